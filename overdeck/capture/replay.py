"""From the spool into the store: each line once, whoever is killed on the way.

A file's lines are committed before it goes; killed in between, the next replay reads it again and finds every id known.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from overdeck.capture import spool, store
from overdeck.capture.event import Event, parse
from overdeck.capture.store import Taken
from overdeck.files import locked

AT_ONCE = 5000
"""Lines of one transaction, and events that are swept in one."""
SWEEP_EVERY = timedelta(hours=6)
SWEEPS = 20
"""Transactions of one sweep, at most: what is left is swept by the next."""


class Replayed(NamedTuple):
    """What one replay did. ``waiting`` files have writers, and are read again; ``swept`` events were too old."""

    taken: Taken
    files: int
    waiting: int
    swept: int
    problems: list[str]


def replay(state: Path, *, keep_days: int, now: datetime, patience_s: float = 0.0) -> Replayed:
    """Take all that is spooled into the store, and sweep it where that is due.

    ``now`` is in UTC, ``keep_days`` at least 1. Raises OverdeckError: busy where another replay is at work past
    ``patience_s``, usage where the store cannot be used (the spool is then left as it is); OSError where the state
    directory cannot be written.
    """
    path = store.path_of(state)
    with locked(path.with_name("lock"), patience_s, who="replay"), store.opened(path, to_write=True) as kept:
        folder = spool.folder_of(state)
        keep_from = iso(now - timedelta(days=keep_days))
        spool.seal(folder)
        taken, removed, waiting, problems = Taken(), 0, 0, []
        for sealed in spool.sealed(folder):
            try:
                with spool.opened(sealed) as file:
                    lines = read(file)
                    while some := list(islice(lines, AT_ONCE)):
                        taken = taken.plus(kept.take(some, keep_from=keep_from))
                    if file.settled:
                        sealed.unlink()
                        removed += 1
                    else:
                        waiting += 1
            except OSError as error:
                problems.append(f"{sealed}: {error.strerror}")
        swept = _swept(kept, now, keep_from)
        kept.note("replay", iso(now))
    return Replayed(taken, removed, waiting, swept, problems)


def read(file: spool.Sealed) -> Iterator[tuple[bytes, Event | None]]:
    """The lines of a sealed file with what they say; empty ones end a line that was cut short."""
    return ((line, parse(line)) for line in file.lines() if line)


def _swept(kept: store.Store, now: datetime, keep_from: str) -> int:
    if iso(now - SWEEP_EVERY) < kept.moment("sweep") <= iso(now):  # one from the future: the clock went back
        return 0
    swept = 0
    for _ in range(SWEEPS):
        gone = kept.sweep(keep_from, at_once=AT_ONCE)
        swept += gone
        if gone < AT_ONCE:
            break
    kept.drop_empty(keep_from)
    kept.note("sweep", iso(now))
    return swept


def iso(moment: datetime) -> str:
    """A time in UTC as the front writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
