"""Reading the log: every writer's file, damaged lines set aside and named, the rest in one order."""

import os
import time
from pathlib import Path
from typing import NamedTuple

from overdeck.incidents.event import Event, read_line

SHOWN_DAMAGES = 5
"""Damaged lines named one by one per file; the rest are counted."""


class Damage(NamedTuple):
    """One line (or, with line 0, one whole file) that could not be read."""

    path: Path
    line: int
    why: str


class Bytes(NamedTuple):
    """What one file held when it was read; ``stat`` is of the same descriptor, from before the first byte."""

    path: Path
    raw: bytes
    stat: os.stat_result
    read_ns: int
    """When, on the wall clock: before the first byte, too."""


class History(NamedTuple):
    """What all writers together have said."""

    events: tuple[Event, ...]
    """Each event once, by (Lamport clock, id)."""
    damages: tuple[Damage, ...]
    files: tuple[Bytes, ...] = ()
    """What all of it was read from."""

    @property
    def lamport(self) -> int:
        """The clock of the latest event; 0 in an empty log."""
        return self.events[-1].lamport if self.events else 0


def read(log: Path) -> History:
    """Read every ``*.jsonl`` of a log folder; one that is not there is empty (git keeps no empty folder)."""
    events: dict[str, Event] = {}
    damages: list[Damage] = []
    files: list[Bytes] = []
    for path in paths(log):
        try:
            file = whole(path)
        except OSError as error:
            damages.append(Damage(path, 0, f"cannot be read: {error.strerror}"))
            continue
        found = _damages_and_events(path, file.raw, events)
        if found and not file.raw.endswith(b"\n"):
            file = _read_at_rest(path)
            found = _damages_and_events(path, file.raw, events)
        damages += found
        files.append(file)
    ordered = sorted(events.values(), key=lambda event: (event.lamport, event.id))
    return History(tuple(ordered), tuple(damages), tuple(files))


def paths(log: Path) -> list[Path]:
    """The writers' files of a log folder, by name."""
    return sorted(log.glob("*.jsonl"))


def describe(damages: tuple[Damage, ...]) -> list[str]:
    """One warning a damaged line, at most ``SHOWN_DAMAGES`` a file and then their number."""
    by_file: dict[Path, list[Damage]] = {}
    for damage in damages:
        by_file.setdefault(damage.path, []).append(damage)
    warnings = []
    for path, found in by_file.items():
        for damage in found[:SHOWN_DAMAGES]:
            where = f"{path}, line {damage.line}," if damage.line else str(path)
            warnings.append(f"{where} {damage.why}; it is set aside")
        if len(found) > SHOWN_DAMAGES:
            warnings.append(f"{path}: {len(found) - SHOWN_DAMAGES} more damaged lines are set aside")
    return warnings


def _damages_and_events(path: Path, raw: bytes, events: dict[str, Event]) -> list[Damage]:
    damages = []
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not line or line == b"\r":
            continue
        try:
            event = read_line(line.removesuffix(b"\r"))
        except ValueError as error:
            damages.append(Damage(path, number, str(error)))
        else:
            events[event.id] = event
    return damages


def whole(path: Path) -> Bytes:
    """All of one file, with the stamp it had; raises OSError."""
    with path.open("rb", buffering=0) as file:
        read_ns, stat = time.time_ns(), os.fstat(file.fileno())
        return Bytes(path, file.read(), stat, read_ns)


def _read_at_rest(path: Path) -> Bytes:
    """The file while nobody writes: a torn tail may be another writer's line on its way."""
    from overdeck.incidents.writer import shared

    with shared(path):
        return whole(path)
