"""KILL lines of a process-count guard: a daemon that kills the largest group near the limit leaves nothing else.

Its victim ends with no output and no word, and looks like a broken hook.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

USUAL = (Path("/var/log/pids-guard.log"), Path("/var/log/pids-guard/pids-guard.log"))

_TAIL = 64 << 10
_KILL = re.compile(rb"\bKILL(?:ED|ING)?\b")
_SHOWN = 160


class Place(NamedTuple):
    """One guard's log as it was when the window began."""

    path: Path
    size: int


class Kills(NamedTuple):
    """What one log says: the KILL lines of the window, and the last one before it (empty where there is none)."""

    path: Path
    new: tuple[str, ...]
    last_before: str


def open_places(paths: Iterable[Path]) -> list[Place]:
    """The logs among ``paths`` that can be read."""
    found = []
    for path in paths:
        try:
            if os.access(path, os.R_OK) and path.is_file():
                found.append(Place(path, path.stat().st_size))
        except OSError:
            continue
    return found


def kills(place: Place) -> Kills:
    """The KILL lines written since ``place`` was looked at. A log that became shorter was begun anew."""
    try:
        size = place.path.stat().st_size
        start = place.size if size >= place.size else 0
        with place.path.open("rb") as file:
            file.seek(max(0, start - _TAIL))
            before = file.read(start - file.tell())
            new = file.read(_TAIL)
    except OSError:
        return Kills(place.path, (), "")
    return Kills(place.path, tuple(_matching(new)), next(iter(reversed(_matching(before))), ""))


def _matching(raw: bytes) -> list[str]:
    return [_shown(line) for line in raw.splitlines() if _KILL.search(line)]


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace").strip()[:_SHOWN]
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
