"""One question at a time: what ``stop-gate`` and ``checkpoint`` remember of a session, and when they may ask again.

Their bounds are shared, so that together they stay within one allowance: a cap per session, a clock since the last
question of either, and work done since then (rows that ``work-rows`` logged; an answer is no work, so answering a
question cannot bring the next one). A question is stamped before it is asked: what fails after that costs a question,
never a loop. Whatever cannot be read or written is silence.

Beside the hot path: only these modules import it.
"""

from __future__ import annotations

import posix
import time

from overdeck.dispatch import jsontext
from overdeck.dispatch.kit import lock
from overdeck.dispatch.plan import digest, opened, slurp
from overdeck.dispatch.writing import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.module import Call

FLOOR_S = 60
"""Between two questions, whatever the config says: where the clock is the whole guard, 0 minutes would be a loop."""
PATIENCE_S = 0.3
"""How long another call may hold what is remembered; then this one asks nothing."""
FORGOTTEN_S = 30 * 24 * 3600
"""Sessions that asked nothing for so long are forgotten when a new one begins."""
MAX_UNREAD = 64 << 10
"""Bytes of the journal that may be read again at every look: a record is written, and synced, only when it must be."""
WORK = frozenset((
    "Edit", "MultiEdit", "NotebookEdit", "Write",
    "apply_patch", "write_file", "replace", "write", "edit", "multiedit", "patch",
))  # fmt: skip
"""Tools that change files: Claude Code's names, and those of Codex, Gemini CLI and OpenCode, for the front logs a call
under the name its client gave it."""
JOURNAL = "modules/work-rows/journal.jsonl"


def folder(state: str) -> str:
    """Where sessions are remembered; ``state`` is the state directory of overdeck."""
    return f"{state}/sessions"


def off_mark(state: str, session: str) -> str:
    """The file that silences both modules for one session: ``overdeck hooks off --session``."""
    return f"{folder(state)}/{_name(session)}.off"


def is_off(state: str, session: str) -> bool:
    """Whether the owner has silenced the questions of this session. It silences, it lifts no gate."""
    try:
        posix.stat(off_mark(state, session))
    except OSError:
        return False
    return True


def next_question(
    call: Call, module: str, questions: list[str], *, min_minutes: int, most: int, least_rows: int
) -> str:
    """The question to ask now, already stamped as asked; empty where none is due.

    ``most`` bounds what both modules together have asked in this session, ``least_rows`` is the work that must have
    been done since the last question of either.
    """
    state = call.overdeck_state
    if not questions or not call.session or is_off(state, call.session):
        return ""
    try:
        _make(folder(state))
        turn = lock.held(f"{folder(state)}/lock", PATIENCE_S)
        try:
            gap_s = max(FLOOR_S, min_minutes * 60)
            return _Session(state, call.session).take(module, questions, gap_s, most, least_rows)
        finally:
            posix.close(turn)
    except (OSError, ValueError):
        return ""


class _Session:
    """What is remembered of one session; whoever reads and writes it holds the lock."""

    def __init__(self, state: str, session: str) -> None:
        self.state = state
        self.session = session
        self.path = f"{folder(state)}/{_name(session)}.json"

    def take(self, module: str, questions: list[str], gap_s: int, most: int, least_rows: int) -> str:
        now = time.time()
        record, damaged = self._read(now)
        seen = record["read"]
        self._count(record)
        due = (
            record["asked"] < most
            and not record["last"] <= now < record["last"] + gap_s
            and record["rows"] - record["rows_then"] >= least_rows
        )
        turn = record["turns"].get(module, 0)
        if due:
            record["asked"] += 1
            record["last"] = now
            record["rows_then"] = record["rows"]
            record["turns"][module] = turn + 1
        if due or damaged or not seen <= record["read"] < seen + MAX_UNREAD:
            replace(self.path, jsontext.dumps(record).encode())
        return questions[turn % len(questions)] if due else ""

    def _read(self, now: float) -> tuple[dict[str, Any], bool]:
        """The record, and whether it was damaged: then it counts as having asked just now. New for a new session."""
        fresh = {"asked": 0, "last": 0.0, "rows": 0, "rows_then": 0, "inode": 0, "read": 0, "turns": {}}
        try:
            fd = opened(self.path)
        except FileNotFoundError:
            _forget(folder(self.state), now)
            return fresh, False
        try:
            raw = slurp(fd)
        finally:
            posix.close(fd)
        try:
            record: dict[str, Any] = jsontext.loads(raw.decode())
            if {key: _kind(value) for key, value in record.items()} == {k: _kind(v) for k, v in fresh.items()}:
                return record, False
        except (ValueError, AttributeError):
            pass
        return {**fresh, "last": now}, True

    def _count(self, record: dict[str, Any]) -> None:
        """Add the work rows logged since the last look; a journal that was rolled is read to its end first."""
        path = f"{self.state}/{JOURNAL}"
        for name in (f"{path}.1", path):
            try:
                fd = opened(name)
            except FileNotFoundError:
                continue
            try:
                inode = posix.fstat(fd).st_ino
                if name != path and record["inode"] not in (0, inode):
                    continue
                begin = record["read"] if inode == record["inode"] else 0
                posix.lseek(fd, begin, 0)
                raw = slurp(fd)
            finally:
                posix.close(fd)
            whole = raw.rfind(b"\n") + 1
            record["rows"] += _rows(raw[:whole], self.session)
            record["inode"], record["read"] = inode, begin + whole


def _rows(raw: bytes, session: str) -> int:
    """How many lines of a journal are work of this session: a file tool that has run."""
    needle = f'"session":{jsontext.dumps(session)}'.encode()
    count = 0
    at = raw.find(needle)
    while at >= 0:
        begin, end = raw.rfind(b"\n", 0, at) + 1, raw.find(b"\n", at)
        try:
            line = jsontext.loads(raw[begin:end].decode())
            count += line["event"] == "PostToolUse" and line["tool"] in WORK and line["session"] == session
        except (ValueError, KeyError, TypeError):
            pass  # a torn line is no row
        at = raw.find(needle, end)
    return count


def _make(where: str) -> None:
    try:
        posix.mkdir(where, 0o700)
    except FileExistsError:
        return


def _kind(value: object) -> object:
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _forget(where: str, now: float) -> None:
    for name in posix.listdir(where):
        try:
            if name != "lock" and posix.stat(f"{where}/{name}").st_mtime < now - FORGOTTEN_S:
                posix.unlink(f"{where}/{name}")
        except OSError:
            continue


def _name(session: str) -> str:
    return digest(session.encode("utf-8", "replace"))
