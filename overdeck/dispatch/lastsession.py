"""What a session did, in one line: counted from the native journal of the pack ``evidence``, with no model.

Beside the hot path: memory-recall imports it, once a session.
"""

from __future__ import annotations

import posix

from overdeck.dispatch import jsontext
from overdeck.dispatch.asking import WORK
from overdeck.dispatch.plan import slurp

JOURNAL = "modules/journal/journal.jsonl"
MAX_BYTES = 4 << 20
"""Of the journal's end: a session before this one is near it, and a start should not wait for more."""


def sentence(state: str, session: str) -> str:
    """Prompts, tool calls, edits and the last moment of ``session``; empty where the journal has none of it.

    ``state`` is the state directory of overdeck.
    """
    prompts = calls = edits = 0
    last = ""
    for line in _lines(state, session) if session else []:
        event, tool = line.get("event"), line.get("tool")
        prompts += event == "UserPromptSubmit"
        ran = event in ("PostToolUse", "PostToolUseFailure")
        calls += ran
        edits += ran and tool in WORK
        last = max(last, str(line.get("ts", ""))[:16])
    if not prompts and not calls:
        return ""
    counts = f"prompts {prompts}, tool calls {calls} (edits {edits})"
    return f"The session before this one here, until {last} UTC: {counts}."


def _lines(state: str, session: str) -> list[dict[str, object]]:
    """The whole lines of this session at the end of the journal."""
    try:
        fd = posix.open(
            f"{state}/{JOURNAL}", posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
        )
    except OSError:
        return []
    try:
        posix.lseek(fd, max(0, posix.fstat(fd).st_size - MAX_BYTES), 0)
        raw = slurp(fd)
    except OSError:
        return []
    finally:
        posix.close(fd)
    needle = f'"session":{jsontext.dumps(session)}'.encode()
    found: list[dict[str, object]] = []
    for piece in raw.split(b"\n"):
        if needle in piece:
            try:
                line = jsontext.loads(piece.decode())
            except ValueError:
                continue  # torn, or cut where the end begins
            if isinstance(line, dict) and line.get("session") == session:
                found.append(line)
    return found
