"""Fires as they are logged, line by line, without an ingest.

Every good line counts, those of our own probes (doctor) too: a line of the fires log names no session. Others are
passed over: the ingest quarantines them.
"""

from datetime import UTC
from typing import NamedTuple

from overdeck.paths import Places
from overdeck.telemetry.lines import Rejected, fire
from overdeck.telemetry.report import FireLine
from overdeck.telemetry.tail import Tail, gained

MOST = 500
"""Fires of one look that are kept: the newest. At the first look that is what stood there already."""


class NewFires(NamedTuple):
    """What came since the look before, oldest first; ``tail`` is for the next look."""

    fires: list[FireLine]
    tail: Tail
    problems: list[str]
    """Files that could not be read, and why."""


def new_fires(places: Places, before: Tail | None) -> NewFires:
    """The fires since ``before``; None: the newest that stand in the log already."""
    found = gained(places, before, kind="fires")
    fires = []
    for line in found.lines[-MOST:]:
        try:
            one = fire(line)
        except Rejected:
            continue
        fires.append(FireLine(one.ts.replace(tzinfo=UTC), one.event, one.action, one.module))
    return NewFires(fires, found.tail, found.problems)
