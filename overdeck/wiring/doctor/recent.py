"""What the front's own logs say of the last hour: the end of each file, line by line."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

from overdeck.telemetry.lines import Call, Fire, Rejected

RECENT = timedelta(hours=1)
RECENTLY = "in the last hour"
"""How far back a log is evidence of what goes on now."""

_TAIL = 1 << 20

Line = TypeVar("Line", Call, Fire)


class Damage(NamedTuple):
    """A line that is none: the byte where it begins, and why. Never what it holds."""

    path: Path
    offset: int
    why: str


def recent(path: Path, read: Callable[[bytes], Line]) -> tuple[list[Line], list[Damage]]:
    """The lines of the last hour at the end of ``path``, and the damaged ones among and behind them.

    A last line without its newline is another process's, on its way. A file that is not there has none of either.
    """
    try:
        with path.open("rb") as file:
            start = max(0, os.fstat(file.fileno()).st_size - _TAIL)
            file.seek(start)
            raw = file.read(_TAIL)
    except FileNotFoundError:
        return [], []
    *pieces, _unfinished = raw.split(b"\n")
    since = datetime.now(UTC).replace(tzinfo=None) - RECENT
    lines: list[Line] = []
    damages: list[Damage] = []
    offset = start
    for number, piece in enumerate(pieces):
        if not (number == 0 and start) and piece.strip():
            try:
                line = read(piece)
            except Rejected as why:
                damages.append(Damage(path, offset, str(why)))
            else:
                if line.ts < since:
                    damages.clear()  # what is damaged before an old line is as old
                else:
                    lines.append(line)
        offset += len(piece) + 1
    return lines, damages
