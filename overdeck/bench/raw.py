"""The raw record: one JSON line a run, written as the runs happen, and read again after whatever ended them.

A ``plan`` line first; a ``run`` line for each run; ``starts`` (or ``uncounted``) lines; an ``invalid`` or an ``end``
line last. Without that the measurement was cut short, and what is there still counts; of the runs of the last second
there may be none. Durations are in ns (wall) and µs (CPU, pressure), sizes in kB. ``before`` and ``after`` hold the
moment exactly, and the machine as it was then or a tenth of a second earlier at most.
"""

import fcntl
import json
import os
import stat
from contextlib import suppress
from dataclasses import asdict, fields, replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from overdeck.bench.arm import Wait
from overdeck.bench.blocks import Observed
from overdeck.bench.noise import Noise
from overdeck.bench.outcome import METRICS
from overdeck.bench.recording import Machine, Plan, PlannedArm, Recording
from overdeck.bench.starts.counter import Count, Starts
from overdeck.errors import InvalidMeasurement, OverdeckError, usage
from overdeck.machine.load import Load, Pressure, Ticks
from overdeck.pipes import open_to_write, read_to_end
from overdeck.spawn.launch import Run

VERSION = 2
_RUN = (
    '{"kind": "run", '
    + ", ".join(f'"{name}": %s' for name in (*Observed._fields, *Run._fields) if name != "run")
    + "}\n"
)
"""Filled in instead of made by json.dumps: a third of the time, which is spent on every run."""
_PROGRAM = "hookbench"


class RawRecord:
    """Writes ``path`` anew, for its owner alone: it holds the first bytes of what hooks print. A context manager.

    A regular file that is there becomes its owner's alone before a byte is in it. It is locked (flock) meanwhile, so
    that who tidies up can see that it is not over.
    """

    def __init__(self, path: Path) -> None:
        try:
            fd = open_to_write(path, 0o600)
            try:
                if stat.S_ISREG(os.fstat(fd).st_mode):
                    os.fchmod(fd, 0o600)
                    os.ftruncate(fd, 0)
            except OSError:
                os.close(fd)
                raise
        except OSError as error:
            raise usage(f"{path} cannot be written: {error.strerror}", hint="give --raw another path") from None
        with suppress(OSError):  # a file system without locks
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._path = path
        self._file = os.fdopen(fd, "wb", buffering=0)

    def plan(self, plan: Plan) -> None:
        """What the runs that follow are runs of."""
        row = {
            "kind": "plan",
            "program": _PROGRAM,
            "v": VERSION,
            **asdict(plan),
            "arms": [arm._asdict() for arm in plan.arms],
            "machine": plan.machine._asdict(),
            "before": plan.before.row(),
        }
        self._line(row)

    def starts(self, arm: str, starts: Starts) -> None:
        """What one arm starts."""
        self._line({"kind": "starts", "arm": arm, **asdict(starts)})

    def uncounted(self, arm: str, why: str) -> None:
        """Why the starts of one arm could not be counted."""
        self._line({"kind": "uncounted", "arm": arm, "why": why})

    def run(self, observed: Observed) -> None:
        """One run, warm-ups (negative block) and the run that made the measurement invalid included."""
        *drawn, before, after, run = observed
        self._write(_RUN % tuple(map(_worded, (*drawn, _noise(before), _noise(after), *run))))

    def invalid(self, reason: InvalidMeasurement) -> None:
        """Why nothing follows."""
        self._line({"kind": "invalid", "message": reason.message, "code": reason.code, "hint": reason.hint})

    def end(self) -> None:
        """All that was planned was measured."""
        self._line({"kind": "end"})

    def _line(self, value: object) -> None:
        self._write(json.dumps(value) + "\n")

    def _write(self, line: str) -> None:
        """At once and whole; an OSError (a full disk) names the file."""
        left = line.encode()
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            error.filename = str(self._path)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


class _Text(str):
    """JSON already."""


_dumped = lru_cache(maxsize=256, typed=True)(json.dumps)
"""What most runs have alike: exit codes, hashes, first bytes."""


def _worded(value: Any) -> object:
    return value if type(value) is int or type(value) is _Text else _dumped(value)


def _noise(read: Noise) -> _Text:
    return _Text(f'{{"at_ns": {read.at_ns}, {_machine(read.load, read.pressure, read.ticks)}')


@lru_cache(maxsize=4)
def _machine(load: Load | None, pressure: Pressure | None, ticks: Ticks | None) -> str:
    row = Noise(load, pressure, ticks).row()
    del row["at_ns"]
    return json.dumps(row)[1:]


_NUMBERS = (
    "wall_ns", "user_us", "system_us", "rss_kb", "voluntary", "involuntary", "minor_faults", "major_faults",
    "stdout_bytes", "orphans", "killed", "floor_kb",
)  # fmt: skip
_MOST = 10**15


def read_raw(path: Path) -> Recording:
    """The recording that a RawRecord wrote; a torn last line is left out.

    Raises OverdeckError (usage) where the file is none of ours, or is damaged elsewhere than at its end.
    """
    lines = read_to_end(path).decode("utf-8", errors="surrogateescape").split("\n")
    whole, torn = lines[:-1], lines[-1]
    rows = [_row(path, number, line) for number, line in enumerate(whole, 1)]
    if torn and not rows:
        rows = [_row(path, 1, torn)]
    recording = _begun(path, rows)
    recording.torn = bool(torn)
    known: set[tuple[int, str]] = set()
    for number, row in enumerate(rows[1:], 2):
        try:
            _take(recording, row, known)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path, number, f"{type(error).__name__}: {error}") from None
    return recording


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise _not_ours(path) if number == 1 else _damaged(path, number, "no JSON object")
    return row


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _begun(path: Path, rows: list[dict[str, Any]]) -> Recording:
    first = rows[0] if rows else {}
    if first.get("kind") != "plan" or first.get("program") != _PROGRAM:
        raise _not_ours(path)
    if first.get("v") != VERSION:
        raise usage(
            f"{path} is a raw record of form {first.get('v')!r}; this version reads form {VERSION}",
            hint="read it with the version that wrote it, or measure again",
        )
    known = {name.name: first[name.name] for name in fields(Plan) if name.name in first}
    try:
        plan = Plan(**known)
        if plan.metric not in METRICS or not isinstance(plan.pairs, int):
            raise ValueError("no metric or no number of pairs")
        return Recording(
            replace(
                plan,
                arms=tuple(map(_arm, known["arms"])),
                prepare=_tuples(known["prepare"]),
                cleanup=_tuples(known["cleanup"]),
                environ=tuple(known["environ"]),
                machine=Machine(**known["machine"]),
                before=Noise.from_row(known["before"]),
            )
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, 1, f"{type(error).__name__}: {error}") from None


def _arm(row: dict[str, Any]) -> PlannedArm:
    waits = tuple(Wait(*wait) for wait in row["waits"])
    return PlannedArm(**{**row, "commands": _tuples(row["commands"]), "waits": waits})


def _take(recording: Recording, row: dict[str, Any], known: set[tuple[int, str]]) -> None:
    """One line into ``recording``; ``known`` are the runs that it has, by block and arm."""
    kind = row.pop("kind")
    if kind == "run":
        seen = _observed(row)
        if seen.arm not in [arm.name for arm in recording.plan.arms]:
            raise ValueError(f"a run of an arm {seen.arm!r} that was not planned")
        if (seen.block, seen.arm) in known:
            raise ValueError(f"a second run of arm {seen.arm} in block {seen.block}")
        known.add((seen.block, seen.arm))
        recording.observed.append(seen)
    elif kind == "starts":
        arm = row.pop("arm")
        recording.starts[arm] = _starts(row)
    elif kind == "uncounted":
        recording.uncounted[row["arm"]] = row["why"]
    elif kind == "invalid":
        recording.invalid = InvalidMeasurement(row["message"], code=row["code"], hint=row["hint"])
    elif kind == "end":
        recording.ended = True
    else:
        raise ValueError(f"a line of kind {kind!r}")


def _observed(row: dict[str, Any]) -> Observed:
    run: dict[str, Any] = {
        name: tuple(value) if isinstance(value := row[name], list) else value
        for name in Run._fields
        if name in row or name not in Run._field_defaults
    }
    for name in _NUMBERS:
        if type(run[name]) is not int or not 0 <= run[name] <= _MOST:
            raise ValueError(f"{name} is no number of a run")
    if not run["exits"] or not all(code is None or type(code) is int for code in run["exits"]):
        raise ValueError("exits are no exit codes")
    seen: dict[str, Any] = {name: row[name] for name in Observed._fields if name not in ("run", "before", "after")}
    return Observed(
        **seen, before=Noise.from_row(row["before"]), after=Noise.from_row(row["after"]), run=Run(**run)
    )


def _starts(row: dict[str, Any]) -> Starts:
    counts = {
        name: Count(*row[name]) if row[name] is not None else None
        for name in ("process_starts", "program_starts", "threads")
    }
    return Starts(**{**row, **counts, "warnings": tuple(row["warnings"]), "hints": tuple(row["hints"])})


def _tuples(commands: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(words) for words in commands)


def _not_ours(path: Path) -> OverdeckError:
    return usage(
        f"{path} is no raw record of hookbench: it does not begin with a plan",
        code="not-a-record",
        hint="hookbench ab A B --raw FILE.jsonl writes one",
    )


def _damaged(path: Path, number: int, why: str) -> OverdeckError:
    return usage(
        f"line {number} of {path} is damaged ({why}), and it is not the last",
        code="damaged-record",
        hint="only a torn end can be made good: measure again",
    )
