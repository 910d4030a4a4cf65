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

from overdeck import OWN_SESSIONS
from overdeck.errors import usage

MOST_BYTES = 32 << 20
"""Of one file, from its end: twice what its writers let it grow to."""
HEAD_BYTES = 4096
LONGEST_BYTES = 1 << 20
"""Of a line; one of ours has a few hundred."""
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
    offsets: Mapping[tuple[int, int, bytes], int]
    """(device, inode, first line) → how far it was read: an inode is given away again, as soon as it is free."""
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
    pieces = []
    offsets = {}
    logs = _both(path)
    for fd in logs:
        with os.fdopen(fd, "rb") as log:
            st = os.fstat(log.fileno())
            head = log.readline(HEAD_BYTES)
            if not head.endswith(b"\n") and len(head) < HEAD_BYTES:
                continue  # begun just now: without its first line it could not be known again
            key = (st.st_dev, st.st_ino, head)
            start = before.offsets.get(key, 0) if before else 0
            start = max(0 if start > st.st_size else start, st.st_size - MOST_BYTES)  # shorter: begun anew
            log.seek(start)
            data = log.read(MOST_BYTES)
        end = data.rfind(b"\n") + 1  # what is not ended yet is read when it is
        if len(data) - end > LONGEST_BYTES:  # no line of its writers: it would be read again at every look
            end = len(data)
            data += b"\n"
        offsets[key] = start + end
        pieces.append(data[: data.rfind(b"\n") + 1])
    found: list[Event] = []
    if before is None:
        for piece in reversed(pieces):
            for line in reversed(piece.split(b"\n")):
                if len(found) == last:
                    break
                event = _event(line)
                if event is not None and _asked_for(event, patterns):
                    found.append(event)
        return Look(found[::-1], 0, offsets, bool(logs))
    broken = 0
    for piece in pieces:
        for line in piece.split(b"\n")[:-1]:
            event = _event(line)
            if event is None:
                broken += bool(line.strip())
            elif _asked_for(event, patterns):
                found.append(event)
    return Look(found, broken, offsets, bool(logs))


def _asked_for(event: Event, patterns: Sequence[str]) -> bool:
    return wanted(event.type, patterns) and not event.session.startswith(OWN_SESSIONS)


def _both(path: Path) -> list[int]:
    """The renamed log and the log, opened, those that there are. Raises OSError.

    Opened as a pair: with a rename in between, the file that was the log would be in neither.
    """
    renamed = path.with_name(path.name + ".1")
    while True:
        first, second = _opened(renamed), _opened(path)
        if _inode(first) == _inode_at(renamed):
            return [fd for fd in (first, second) if fd is not None]
        for fd in (first, second):
            if fd is not None:
                os.close(fd)


def _opened(file: Path) -> int | None:
    try:
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise IsADirectoryError(errno.EISDIR, "it is not a regular file", str(file))
    return fd


def _inode(fd: int | None) -> int:
    return 0 if fd is None else os.fstat(fd).st_ino


def _inode_at(file: Path) -> int:
    try:
        return file.stat().st_ino
    except FileNotFoundError:
        return 0


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


def _no_number(name: str) -> None:
    raise ValueError(f"{name} has no JSON form")


def _event(line: bytes) -> Event | None:
    """One line as an event; None for what is none, a line that a full disk cut short for one."""
    try:
        raw = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
        return None
    ts, type, source, session = (str(raw.pop(key, "")) for key in ("ts", "type", "source", "session"))
    return Event(ts, type, source, session, raw)
