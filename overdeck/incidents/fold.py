"""From events to incidents: a pure function, so that any order of files and any copy of a line gives one state."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from overdeck.incidents import ids
from overdeck.incidents.event import Event

OPEN, RESOLVED, WONT_FIX, EVIDENCE_LOST = ("open", "resolved", "wont-fix", "evidence-lost")

_STATE_AFTER = {
    "resolved": RESOLVED,
    "wont-fixed": WONT_FIX,
    "evidence-lost": EVIDENCE_LOST,
}
_STATE_KEPT = {"noted", "linked", "evidence-added", "merged"}

OLD_BUILD = "old-build"
"""What an occurrence after the end says of itself where its session did not have the fix yet."""

RECURRING = 3
"""Episodes that make a class recurring."""


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
    episodes: int = 1
    """How often it began: once, and once more each time it came back after its end."""
    suspect: bool = False
    """It was reopened by a session of which nobody can tell whether it had the fix."""
    old_builds: int = 0
    """Sightings after the end, by sessions that did not have the fix yet."""
    merged: tuple[str, ...] = ()
    """Ids of incidents that turned out to be this one; they still lead here."""

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
            "episodes": self.episodes,
            "suspect": self.suspect,
            "old_builds": self.old_builds,
            "merged": list(self.merged),
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

    @property
    def standing(self) -> list[dict[str, Any]]:
        """The statements that its present end rests on: those since it was last reopened."""
        since = max((i for i, event in enumerate(self.events) if event.kind == "reopened"), default=0)
        return self._replace(events=self.events[since:]).evidence

    @property
    def linked(self) -> list[str]:
        """Keys of the incidents that its own ``linked`` events name, each once."""
        told = [event.body.get("to") for event in self.events if event.kind == "linked"]
        return list(dict.fromkeys(key for key in told if isinstance(key, str)))


class State(NamedTuple):
    """The registry at one moment."""

    incidents: tuple[Incident, ...]
    """In the order they were opened (Lamport clock, id)."""
    warnings: tuple[str, ...]
    merged: Mapping[str, str] = {}
    """Key of an incident that turned out to be another one → key of that one."""
    names: Mapping[str, str] = {}
    """Id per key, also of those that were merged."""

    @property
    def ids(self) -> dict[str, str]:
        """Id per key; the ids of merged incidents lead to them still."""
        return {**{incident.key: incident.id for incident in self.incidents}, **self.names}

    def get(self, key: str) -> Incident:
        """The incident whose ``opened`` event has this id, or the one that it was merged into."""
        wanted = self.merged.get(key, key)
        return next(incident for incident in self.incidents if incident.key == wanted)

    def has(self, key: str) -> bool:
        """Whether ``get`` knows this key."""
        wanted = self.merged.get(key, key)
        return any(incident.key == wanted for incident in self.incidents)

    def links(self, incident: Incident) -> list[Incident]:
        """The incidents that ``incident`` is linked with, whichever of the two says so, in the order of opening."""
        named = {self.merged.get(key, key) for key in incident.linked}
        naming = {
            other.key
            for other in self.incidents
            if incident.key in (self.merged.get(key, key) for key in other.linked)
        }
        return [other for other in self.incidents if other.key in (named | naming) - {incident.key}]

    def find(self, wanted: str) -> Incident:
        """The incident that ``wanted`` (an id or the beginning of one) names. Raises OverdeckError (3)."""
        return self.get(ids.resolve(wanted, self.ids))

    @property
    def recurring(self) -> frozenset[str]:
        """Ids of the classes that came back often enough to be looked at as a whole."""
        episodes: Counter[str] = Counter()
        for incident in self.incidents:
            episodes[incident.class_id] += incident.episodes
        return frozenset(class_id for class_id, count in episodes.items() if count >= RECURRING)


def fold(events: Iterable[Event]) -> State:
    """The state that ``events`` amount to. Their order and repetitions do not matter: (Lamport clock, id) does."""
    ordered = sorted({event.id: event for event in events}.values(), key=lambda event: (event.lamport, event.id))
    openings = [event for event in ordered if event.kind == "opened"]
    names = ids.assign(openings)
    merged = _merged(openings, [event for event in ordered if event.kind == "merged"])
    stories: dict[str, list[Event]] = {event.id: [event] for event in openings if event.id not in merged}
    orphans: dict[str, int] = {}
    for event in ordered:
        key = merged.get(event.incident, event.incident) if merged else event.incident
        if key not in stories:
            orphans[key] = orphans.get(key, 0) + 1
        elif event.id != key:
            stories[key].append(event)
    warnings = [
        f"{count} event{'s' if count > 1 else ''} of an incident whose opening is in no log file ({key[:8]}…): "
        "a file is missing or damaged"
        for key, count in orphans.items()
    ]
    others: dict[str, list[str]] = {}
    for key, into in merged.items():
        others.setdefault(into, []).append(names[key])
    incidents = []
    for key, story in stories.items():
        incident, strange = _incident(names[key], story)
        incidents.append(incident._replace(merged=tuple(others.get(key, ()))))
        warnings += [f"{incident.id}: this version does not know what {kind!r} means" for kind in strange]
    return State(tuple(incidents), tuple(warnings), merged, names if merged else {})


def _merged(openings: Sequence[Event], events: Sequence[Event]) -> dict[str, str]:
    """Key → key of the incident it was merged into. Whichever way an event says it, the one opened first stays, so
    that two clones that merge the same incidents mean the same; what is not alike is not merged."""
    if not events:
        return {}
    alike = {event.id: (event.body["class_id"], event.body["fingerprint"]) for event in openings}
    first = {key: key for key in alike}

    def root(key: str) -> str:
        while first[key] != key:
            key = first[key]
        return key

    place = {key: number for number, key in enumerate(alike)}
    for event in events:
        into = event.body.get("into")
        if isinstance(into, str) and event.incident in alike and alike.get(into) == alike[event.incident]:
            older, younger = sorted((root(event.incident), root(into)), key=lambda key: place[key])
            first[younger] = older
    return {key: root(key) for key in alike if first[key] != key}


def _incident(name: str, story: list[Event]) -> tuple[Incident, list[str]]:
    opened = story[0]
    state, last_at, occurrences, episodes, old_builds, suspect = OPEN, opened.at, 1, 1, 0, False
    strange: list[str] = []
    for event in story[1:]:
        kind = event.kind
        if kind == "occurrence":
            occurrences += 1
            old_builds += event.body.get("recurrence") == OLD_BUILD
        elif kind == "opened":
            occurrences += 1
        elif kind == "reopened":
            doubted = event.body.get("suspect") is True
            suspect = doubted and (suspect or state != OPEN)
            episodes += state != OPEN
            state = OPEN
        elif kind == "evidence-lost" and state != RESOLVED:
            pass  # Another clone reopened it before this one found out.
        elif kind in _STATE_AFTER:
            state, suspect = _STATE_AFTER[kind], False
        elif kind not in _STATE_KEPT and kind not in strange:
            strange.append(kind)
        last_at = max(last_at, event.at)
    body = opened.body
    incident = Incident(
        opened.id, name, body["class"], body["class_id"], body["title"], body["fingerprint"],
        state, opened.at, last_at, occurrences, tuple(story), episodes, suspect, old_builds,
    )  # fmt: skip
    return incident, strange


def _listed(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
