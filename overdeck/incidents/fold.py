"""From events to incidents: a pure function, so that any order of files and any copy of a line gives one state."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from overdeck.incidents.event import Event
from overdeck.incidents.ids import assign

OPEN, RESOLVED, WONT_FIX, EVIDENCE_LOST = ("open", "resolved", "wont-fix", "evidence-lost")

_STATE_AFTER = {
    "opened": OPEN,
    "resolved": RESOLVED,
    "wont-fixed": WONT_FIX,
    "reopened": OPEN,
    "evidence-lost": EVIDENCE_LOST,
}
_STATE_KEPT = {"occurrence", "noted", "evidence-added"}


class Incident(NamedTuple):
    """One episode of one class of trouble, as all its events together tell it."""

    key: str
    """Id of the event that opened it; events refer to it by this."""
    id: str
    """What people type: ``OD-7K2M``."""
    slug: str
    class_id: str
    title: str
    fingerprint: str
    state: str
    opened_at: str
    last_at: str
    occurrences: int
    events: tuple[Event, ...]

    @property
    def facts(self) -> dict[str, Any]:
        """What every ``--json`` of the registry says of an incident."""
        return {
            "id": self.id,
            "class": self.slug,
            "class_id": self.class_id,
            "state": self.state,
            "title": self.title,
            "fingerprint": self.fingerprint,
            "occurrences": self.occurrences,
            "opened_at": self.opened_at,
            "last_at": self.last_at,
        }

    @property
    def evidence(self) -> list[dict[str, Any]]:
        """The statements that were accepted for it, oldest first."""
        return [
            statement
            for event in self.events
            for statement in _listed(event.body.get("evidence"))
            if event.kind in {"resolved", "evidence-added"}
        ]


class State(NamedTuple):
    """The registry at one moment."""

    incidents: tuple[Incident, ...]
    """In the order they were opened (Lamport clock, id)."""
    warnings: tuple[str, ...]

    @property
    def ids(self) -> dict[str, str]:
        """Id per key."""
        return {incident.key: incident.id for incident in self.incidents}

    def get(self, key: str) -> Incident:
        """The incident whose ``opened`` event has this id."""
        return next(incident for incident in self.incidents if incident.key == key)


def fold(events: Iterable[Event]) -> State:
    """The state that ``events`` amount to. Their order and repetitions do not matter: (Lamport clock, id) does."""
    ordered = sorted({event.id: event for event in events}.values(), key=lambda event: (event.lamport, event.id))
    openings = [event for event in ordered if event.kind == "opened"]
    ids = assign(openings)
    stories: dict[str, list[Event]] = {event.id: [event] for event in openings}
    orphans: dict[str, int] = {}
    for event in ordered:
        if event.kind == "opened":
            continue
        if event.incident in stories:
            stories[event.incident].append(event)
        else:
            orphans[event.incident] = orphans.get(event.incident, 0) + 1
    warnings = [
        f"{count} event{'s' if count > 1 else ''} of an incident whose opening is in no log file ({key[:8]}…): "
        "a file is missing or damaged"
        for key, count in orphans.items()
    ]
    incidents = []
    for key, story in stories.items():
        incident, strange = _incident(ids[key], story)
        incidents.append(incident)
        warnings += [f"{incident.id}: this version does not know what {kind!r} means" for kind in strange]
    return State(tuple(incidents), tuple(warnings))


def _incident(name: str, story: list[Event]) -> tuple[Incident, list[str]]:
    opened = story[0]
    state, last_at, occurrences = OPEN, opened.at, 1
    strange: list[str] = []
    for event in story[1:]:
        if event.kind in _STATE_AFTER:
            state = _STATE_AFTER[event.kind]
        elif event.kind not in _STATE_KEPT and event.kind not in strange:
            strange.append(event.kind)
        if event.kind == "occurrence":
            occurrences += 1
        last_at = max(last_at, event.at)
    body = opened.body
    incident = Incident(
        opened.id, name, body["class"], body["class_id"], body["title"], body["fingerprint"],
        state, opened.at, last_at, occurrences, tuple(story),
    )  # fmt: skip
    return incident, strange


def _listed(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
