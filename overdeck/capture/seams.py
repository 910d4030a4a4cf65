"""When the open events of a session become a batch (the rule of the eklavya seed).

At the end of a turn or session only where there are enough of them, or the oldest has waited long: whatever is made of
a batch may be dear. The start of any session closes all that is open, of whatever session.
"""

from datetime import datetime
from typing import NamedTuple

SEAM_EVENTS = 8
SEAM_S = 20 * 60
ENDS = ("Stop", "SessionEnd")
START = "SessionStart"


class Open(NamedTuple):
    """The open events of one session: how many, and the time of the oldest (UTC, ISO-8601)."""

    events: int
    oldest: str


def why_closed(event: str, ts: str, waiting: Open | None) -> str:
    """Why an ``event`` of the session at ``ts`` closes what waits, itself included; empty where it does not.

    >>> why_closed("Stop", "2026-01-01T00:30:00.000Z", Open(3, "2026-01-01T00:09:00.000Z"))
    'age'
    >>> why_closed("PostToolUse", "2026-01-01T00:30:00.000Z", Open(300, "2026-01-01T00:09:00.000Z"))
    ''
    """
    if event not in ENDS or waiting is None:
        return ""
    if waiting.events >= SEAM_EVENTS:
        return "events"
    waited = (datetime.fromisoformat(ts) - datetime.fromisoformat(waiting.oldest)).total_seconds()
    return "age" if waited >= SEAM_S else ""
