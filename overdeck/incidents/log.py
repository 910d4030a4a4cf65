"""Reading the log: every writer's file, damaged lines set aside and named, the rest in one order."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from overdeck.files import open_regular
from overdeck.incidents.event import Event, read_line

SHOWN_DAMAGES = 5
"""Damaged lines named one by one per file; the rest are counted."""


CLOCK_GAP = 1_000_000
"""An honest clock is at most the number of events before it, and one: what is so far ahead of all others is forged,
or its past is lost. Followed, it would use the clock up, and nothing could be said after it."""


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
    if not log.is_dir() and (log.exists() or log.is_symlink()):
        damages.append(Damage(log, 0, "is no folder, so no event can be read"))
    files: list[Bytes] = []
    for path in paths(log):
        try:
            file = whole(path)
            found = _damages_and_events(path, file.raw, events)
            if found and not file.raw.endswith(b"\n"):
                file = _read_at_rest(path)
                found = _damages_and_events(path, file.raw, events)
        except OSError as error:
            damages.append(Damage(path, 0, f"cannot be read: {error.strerror}"))
            continue
        damages += found
        files.append(file)
    ordered = sorted(events.values(), key=lambda event: (event.lamport, event.id))
    if ordered and ordered[-1].lamport > len(ordered) + CLOCK_GAP:
        kept = _before_gap(ordered)
        damages += [_run_away(event, files) for event in ordered[kept:]]
        del ordered[kept:]
    return History(tuple(ordered), tuple(damages), tuple(files))


def paths(log: Path) -> list[Path]:
    """The writers' files of a log folder, by name."""
    return sorted(log.glob("*.jsonl"))


def size(log: Path) -> int:
    """Bytes of the writers' files together; what cannot be looked at has none."""
    total = 0
    for path in paths(log):
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


def stamp(log: Path) -> tuple[tuple[str, int, int, int], ...]:
    """Name, inode, size and time of each writer's file: another one once anybody has written, or git has. It is
    cheap, and may be the same for two writes within one tick of the clock: for those who ask again and again."""
    found = []
    for path in paths(log):
        try:
            seen = path.stat()
        except OSError:
            continue
        found.append((path.name, seen.st_ino, seen.st_size, seen.st_mtime_ns))
    return tuple(found)


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


def _before_gap(ordered: Sequence[Event]) -> int:
    """How many of the events come before the first that is ``CLOCK_GAP`` ahead of the one before it."""
    last = 0
    for number, event in enumerate(ordered):
        if event.lamport > last + CLOCK_GAP:
            return number
        last = event.lamport
    return len(ordered)


def _run_away(event: Event, files: Sequence[Bytes]) -> Damage:
    """The damage for an event whose clock nothing leads to, with the place where it was read."""
    name = event.id.encode()
    file = next(file for file in files if name in file.raw)
    line = file.raw.count(b"\n", 0, file.raw.index(name)) + 1
    return Damage(file.path, line, f"has the clock {event.lamport}, which no event before it leads to")


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
    with os.fdopen(open_regular(path), "rb", buffering=0) as file:
        read_ns, stat = time.time_ns(), os.fstat(file.fileno())
        return Bytes(path, file.read(), stat, read_ns)


def _read_at_rest(path: Path) -> Bytes:
    """The file while nobody writes: a torn tail may be another writer's line on its way."""
    from overdeck.incidents.writer import shared

    with shared(path):
        return whole(path)
