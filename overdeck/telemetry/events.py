"""The event log (dispatch/eventlog.py), read and followed: rotation, torn lines, and a log that is not there yet.

A place is kept for the log and for the file it was last renamed to, so that a rotation between two looks loses nothing.
Nothing is held open and nothing is written. Its writers keep one renamed file, so memory is bounded by the two.
"""

import errno
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.errors import usage

MOST_BYTES = 32 << 20
"""Of one file, from its end: twice what its writers let it grow to."""
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.*")


class Event(NamedTuple):
    """One line. ``ts`` is UTC, ISO-8601, as it was written; ``fields`` are those beyond the common four."""

    ts: str
    type: str
    source: str
    session: str
    fields: Mapping[str, Any]


class Look(NamedTuple):
    """What one look found, oldest first: events that were asked for, and how many lines are none at all."""

    events: list[Event]
    broken: int
    offsets: Mapping[tuple[int, int], int]
    """(device, inode) → how far it was read."""
    there: bool
    """Whether there is a log."""


def pattern(text: str) -> str:
    """What a user asks types by, checked: a type, a topic (``work`` is ``work.*``) or one with ``*``.

    Raises OverdeckError (usage) for letters that no type has.

    >>> pattern("work"), pattern("work.*"), pattern("turn.done")
    ('work.*', 'work.*', 'turn.done')
    """
    if not text or not set(text) <= _LETTERS:
        raise usage(
            f"{text!r} is no type of event: a type is words with dots between them, such as turn.done or work.*",
            hint="overdeck events types",
        )
    return text if "." in text or "*" in text else f"{text}.*"


def wanted(type: str, patterns: Sequence[str]) -> bool:
    """Whether a type is asked for; by no pattern all are. ``*`` stands for any letters, dots too."""
    from fnmatch import fnmatchcase

    return not patterns or any(fnmatchcase(type, one) for one in patterns)


def look(path: Path, before: Look | None, patterns: Sequence[str], *, last: int) -> Look:
    """What the log gained since ``before``; at the first look its ``last`` events. Raises OSError."""
    found: list[Event] = []
    broken = 0
    offsets = {}
    there = False
    for file in (path.with_name(path.name + ".1"), path):
        try:
            fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            continue
        st = os.fstat(fd)
        if not stat.S_ISREG(st.st_mode):
            os.close(fd)
            raise IsADirectoryError(errno.EISDIR, "it is not a regular file", str(file))
        with os.fdopen(fd, "rb") as log:
            key = (st.st_dev, st.st_ino)
            start = before.offsets.get(key, 0) if before else 0
            start = max(0 if start > st.st_size else start, st.st_size - MOST_BYTES)  # shorter: begun anew
            log.seek(start)
            data = log.read(MOST_BYTES)
        there = True
        whole = data[: data.rfind(b"\n") + 1]  # what is not ended yet is read when it is
        offsets[key] = start + len(whole)
        for line in whole.split(b"\n")[:-1]:
            event = _event(line)
            if event is None:
                broken += bool(line.strip())
            elif wanted(event.type, patterns):
                found.append(event)
    if before is None:
        found, broken = (found[-last:] if last else []), 0
    return Look(found, broken, offsets, there)


def follow(
    path: Path, patterns: Sequence[str], *, last: int, every_s: float, pause: Callable[[float], None] = time.sleep
) -> Iterator[Look]:
    """One look after another, for ever: the first whatever it found, then those that found something."""
    seen: Look | None = None
    while True:
        now = look(path, seen, patterns, last=last)
        if seen is None or now.events or now.broken:
            yield now
        seen = now
        pause(every_s)


def _event(line: bytes) -> Event | None:
    """One line as an event; None for what is none, a line that a full disk cut short for one."""
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
        return None
    ts, type, source, session = (str(raw.pop(key, "")) for key in ("ts", "type", "source", "session"))
    return Event(ts, type, source, session, raw)
