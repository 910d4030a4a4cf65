"""One event of the log: a JSON object on one line, named by the hash of its own bytes.

A line is ``{"id":"<32 hex digits>",REST``, and the id is the SHA-256 of REST, shortened. So a line carries the
proof that it is whole: a torn write, a flipped bit and a hand edit are all seen, and the same event met in two
files is one event.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

VERSION = 1

_CLOCK_LIMIT = 2**53
"""A clock beyond what every JSON reader keeps exact would be a forgery that no later event could follow."""

PREFIX = r"[A-Z][A-Z0-9]{0,7}"
"""Of an incident's id; it is printed, and typed."""

_PREFIX = re.compile(PREFIX)
_OPENING = b'{"id":"'
_ID_LENGTH = 32
_REST = len(_OPENING) + _ID_LENGTH + len(b'",')


class Event(NamedTuple):
    """One thing that happened to one incident."""

    id: str
    kind: str
    """opened, occurrence, noted, linked, resolved, evidence-added, wont-fixed, reopened, evidence-lost."""
    lamport: int
    at: str
    """UTC; for people. The order of events is the Lamport clock's, never the wall clock's."""
    writer: str
    incident: str
    """Id of the ``opened`` event of the incident; that event's own id in the event itself."""
    body: Mapping[str, Any]
    """The whole JSON object, with what this kind of event says besides."""


def seal(
    kind: str, *, lamport: int, at: str, writer: str, incident: str = "", **said: object
) -> tuple[Event, bytes]:
    """Make an event and the line (without newline) that records it. ``incident`` is empty only for ``opened``."""
    head = {"v": VERSION, "kind": kind, "lamport": lamport, "at": at, "writer": writer}
    if incident:
        head["incident"] = incident
    rest = json.dumps({**head, **said}, ensure_ascii=False, separators=(",", ":")).encode()[1:]
    name = _name(rest)
    line = _OPENING + name.encode() + b'",' + rest
    return _event(name, json.loads(line)), line


def read_line(line: bytes) -> Event:
    """The event on ``line`` (without newline). Raises ValueError saying what is wrong with it."""
    if not line.startswith(_OPENING) or line[_REST - 2 : _REST] != b'",':
        raise ValueError("is not an event")
    name = _name(line[_REST:])
    if line[len(_OPENING) : len(_OPENING) + _ID_LENGTH] != name.encode():
        raise ValueError("is cut or was changed: its id is not the hash of its bytes")
    try:
        body = json.loads(line)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if body.get("v") != VERSION:
        raise ValueError(f"is of version {body.get('v')!r}, which this Overdeck does not read")
    return _event(name, body)


def _name(rest: bytes) -> str:
    return hashlib.sha256(rest).hexdigest()[:_ID_LENGTH]


def _event(name: str, body: dict[str, Any]) -> Event:
    try:
        kind, lamport, at, writer = body["kind"], body["lamport"], body["at"], body["writer"]
        incident = name if kind == "opened" else body["incident"]
        if kind == "opened":
            texts = (body["prefix"], body["class"], body["class_id"], body["title"], body["fingerprint"])
            digits = body["digits"]
            whole = all(isinstance(text, str) for text in texts) and type(digits) is int and 4 <= digits <= 6
            if whole and not _PREFIX.fullmatch(body["prefix"]):
                raise ValueError(f"has the prefix {body['prefix']!r:.40}, which is none")
        else:
            whole = isinstance(incident, str)
    except KeyError as missing:
        raise ValueError(f"has no {missing}") from None
    if not (whole and type(lamport) is int and isinstance(kind, str) and isinstance(at, str)):
        raise ValueError("has a field of the wrong type")
    if not 0 < lamport <= _CLOCK_LIMIT:
        raise ValueError(f"has a clock outside 1 to {_CLOCK_LIMIT}")
    return Event(name, kind, lamport, at, str(writer), incident, body)
