"""Which incidents ``list`` shows."""

from collections.abc import Iterable, Sequence
from operator import attrgetter

from overdeck.incidents.fold import Incident

ORDERS = {"last": "last_at", "seen": "occurrences", "opened": "opened_at", "class": "slug"}
"""What ``order`` may be, and the field that it sorts by: the highest first, but names as in a dictionary."""


def select(
    incidents: Iterable[Incident],
    *,
    state: str = "all",
    class_ids: Sequence[str] | None = None,
    since: str = "",
    order: str = "last",
) -> list[Incident]:
    """The incidents in ``state`` (or ``all``), of one of ``class_ids`` (None: any), with an event at or after the
    timestamp ``since``. The one that moved last comes first, of several the one opened last; with another ``order`` of
    ``ORDERS`` that decides before."""
    chosen = [
        incident
        for incident in incidents
        if state in ("all", incident.state)
        and (class_ids is None or incident.class_id in class_ids)
        and incident.last_at >= since
    ]
    # Sorting keeps the order of equals, also when reversed.
    chosen.reverse()
    chosen.sort(key=lambda incident: incident.last_at, reverse=True)
    chosen.sort(key=attrgetter(ORDERS[order]), reverse=order != "class")
    return chosen
