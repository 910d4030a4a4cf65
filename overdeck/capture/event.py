"""One line of the spool as data."""

import json
import re
from datetime import datetime
from typing import NamedTuple

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_ID = re.compile(r"[0-9a-f]{32}")
_BEGINNING = b'{"ts":"'


class Event(NamedTuple):
    """What happened: names and sizes, never a text. ``ts`` is UTC, ISO-8601, so that text order is time order."""

    id: str
    ts: str
    event: str
    tool: str
    session: str
    sub: bool
    size: int
    """Bytes of the payload."""
    cwd: str
    agent: str


def parse(line: bytes) -> Event | None:
    """The event of a line; None for what is none. Behind a line that was cut short a whole one may stand: it counts."""
    event = _parse(line)
    if event is None and (begins := line.rfind(_BEGINNING)) > 0:
        event = _parse(line[begins:])
    return event


def _parse(line: bytes) -> Event | None:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    texts = [said.get(key, "") for key in ("id", "ts", "event", "tool", "session", "cwd", "agent")]
    size = said.get("in", 0)
    if not all(isinstance(text, str) for text in texts) or type(size) is not int or not 0 <= size < 1 << 62:
        return None
    id, ts, event, tool, session, cwd, agent = (text.encode("utf-8", "replace").decode() for text in texts)
    if not (_ID.fullmatch(id) and _TIME.fullmatch(ts) and event and _is_moment(ts)):
        return None
    return Event(id, ts, event, tool, session, said.get("sub") is True, size, cwd, agent)


def _is_moment(ts: str) -> bool:
    """Whether there is such a day and such an hour: what waits is compared by it, and no line must stop the rest."""
    try:
        datetime.fromisoformat(ts)
    except ValueError:
        return False
    return True
