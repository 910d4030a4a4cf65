"""What a log gained since it was last looked at, without the database: for a page that shows what goes on now.

A place is kept for the log and for each of its segments, so that a rotation between two looks, or a line that is still
written into the renamed file, loses nothing. Nothing is held open and nothing is written.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from overdeck.paths import Places
from overdeck.telemetry.sources import LogFile, chunks, log_files

BACK_BYTES = 256 << 10
"""So much of the end of a log is read at the first look: the last minute, where it is a busy one."""
MOST_BYTES = 2 << 20
"""A log that gained more between two looks is read from here before its end on: memory stays bounded."""


class Tail(NamedTuple):
    """Where each file was read to: (device, inode) → offset in bytes."""

    offsets: Mapping[tuple[int, int], int]


class Gained(NamedTuple):
    """New whole lines, oldest first, without their newlines."""

    lines: list[bytes]
    tail: Tail
    skipped: int
    """Bytes that were passed over, at the first look those before its end."""
    problems: list[str]
    """Files that could not be read, and why."""
    written: datetime | None
    """When the log was last written to, UTC; None where there is none."""


def gained(places: Places, before: Tail | None = None, *, kind: str = "calls") -> Gained:
    """The lines of the log ``kind`` (``calls``, ``fires``) since ``before``; None: its end, of BACK_BYTES."""
    files = [file for file in log_files(places)[0] if file.kind == kind]
    lines: list[bytes] = []
    offsets: dict[tuple[int, int], int] = {}
    skipped = 0
    problems = []
    for file in files:
        key = (file.device, file.inode)
        start, passed = _start(file, before, live=file is files[-1])
        skipped += passed
        offsets[key] = start + passed
        try:
            for chunk in chunks(file, start + passed, at_once=MOST_BYTES):
                new = chunk.data.split(b"\n")
                lines += new[1 if passed and chunk.offset == start + passed else 0 : -1]
                offsets[key] = chunk.offset + len(chunk.data)
        except FileNotFoundError:  # renamed just now: the next look finds it
            continue
        except OSError as error:
            problems.append(f"{file.path} cannot be read: {error.strerror}")
    written = max((file.mtime_ns for file in files), default=None)
    moment = None if written is None else datetime.fromtimestamp(written / 1e9, UTC)
    return Gained(lines, Tail(offsets), skipped, problems, moment)


def _start(file: LogFile, before: Tail | None, *, live: bool) -> tuple[int, int]:
    """Where to go on, and how many bytes from there to pass over.

    A file that appeared meanwhile is read whole, and so is one that became shorter: it was begun anew.
    """
    if before is None:
        return (0, max(0, file.size - BACK_BYTES)) if live else (file.size, 0)
    start = before.offsets.get((file.device, file.inode), 0)
    if start > file.size:
        start = 0
    return start, max(0, file.size - start - MOST_BYTES)
