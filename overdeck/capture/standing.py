"""How far the store is behind the spool, and how much it holds."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from overdeck.capture import spool, store
from overdeck.capture.event import parse
from overdeck.capture.replay import iso
from overdeck.capture.seams import START
from overdeck.capture.store import Counted
from overdeck.dispatch.planning import SPOOL_BYTES

UNSERVED = timedelta(minutes=10)
"""A session start sets off a replay that takes its own line in; where it is still spooled after so long, none came."""
_START = f'"event":"{START}"'.encode()


class Standing(NamedTuple):
    """What is spooled and what is kept. Times are UTC, ISO-8601, empty where there is none."""

    lines: int
    size: int
    """Bytes of all spool files."""
    files: int
    oldest: str
    unserved: str
    """The first session start that should have been replayed long ago."""
    full: bool
    """The spool takes no more: what happens now is not captured."""
    kept: Counted
    problem: str
    """Why the store cannot be read, or a spool file not; empty where they can."""


def standing(state: Path, now: datetime) -> Standing:
    """Look at spool and store; changes nothing. Raises OverdeckError where the store cannot be used."""
    folder = spool.folder_of(state)
    lines, size, files, oldest, first_start, problem = 0, 0, 0, "", "", ""
    largest = 0
    for path in [*spool.sealed(folder), folder / spool.CURRENT]:
        try:
            for chunk in _chunks(path):
                if not oldest and (event := parse(chunk.partition(b"\n")[0])):
                    oldest = event.ts
                if not first_start:
                    first_start = _first_start(chunk)
                lines += chunk.count(b"\n")
                size += len(chunk)
            largest = path.stat().st_size
            files += largest > 0
        except FileNotFoundError:
            largest = 0
        except OSError as error:
            problem = f"{path}: {error.strerror}"
    unserved = first_start if first_start and first_start < iso(now - UNSERVED) else ""
    try:
        with store.opened(store.path_of(state), to_write=False) as kept:
            counted = kept.counted()
    except FileNotFoundError:
        counted = Counted(0, 0, 0, 0, "")
    return Standing(lines, size, files, oldest, unserved, largest > SPOOL_BYTES, counted, problem)


def _chunks(path: Path) -> Iterator[bytes]:
    """A spool file in pieces that end with a line; the current one among them, whoever writes it."""
    with spool.opened(path, looking=True) as file:
        yield from file.pieces()


def _first_start(piece: bytes) -> str:
    at = piece.find(_START)
    while at >= 0:
        begins = piece.rfind(b"\n", 0, at) + 1
        ends = piece.find(b"\n", at)
        if event := parse(piece[begins : ends if ends >= 0 else len(piece)]):
            return event.ts
        at = piece.find(_START, at + 1)
    return ""
