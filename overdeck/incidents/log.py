"""Reading the log: every writer's file, damaged lines set aside and named, the rest in one order."""

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


class History(NamedTuple):
    """What all writers together have said."""

    events: tuple[Event, ...]
    """Each event once, by (Lamport clock, id)."""
    damages: tuple[Damage, ...]

    @property
    def lamport(self) -> int:
        """The clock of the latest event; 0 in an empty log."""
        return self.events[-1].lamport if self.events else 0


def read(log: Path) -> History:
    """Read every ``*.jsonl`` of a log folder; one that is not there is empty (git keeps no empty folder)."""
    events: dict[str, Event] = {}
    damages: list[Damage] = []
    for path in sorted(log.glob("*.jsonl")):
        try:
            raw = path.read_bytes()
        except OSError as error:
            damages.append(Damage(path, 0, f"cannot be read: {error.strerror}"))
            continue
        found = _damages_and_events(path, raw, events)
        if found and not raw.endswith(b"\n"):
            found = _damages_and_events(path, _read_at_rest(path), events)
        damages += found
    ordered = sorted(events.values(), key=lambda event: (event.lamport, event.id))
    return History(tuple(ordered), tuple(damages))


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


def _read_at_rest(path: Path) -> bytes:
    """The file while nobody writes: a torn tail may be another writer's line on its way."""
    from overdeck.incidents.writer import shared

    with shared(path):
        return path.read_bytes()
