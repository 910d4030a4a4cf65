"""Recording trouble: a new incident, one more occurrence of an open one, or the return of one that had ended."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from overdeck.errors import usage
from overdeck.incidents import taxonomy
from overdeck.incidents.current import Warn
from overdeck.incidents.fold import EVIDENCE_LOST, OPEN, RESOLVED, Incident, State
from overdeck.incidents.recording import Draft, Turn, record
from overdeck.incidents.recurrence import Recurrence, judge
from overdeck.incidents.registry import Registry
from overdeck.incidents.taxonomy import IncidentClass
from overdeck.incidents.text import TITLE_LIMIT, accept
from overdeck.incidents.writer import PATIENCE_S


@dataclass(frozen=True)
class Sighting:
    """What somebody saw, in their words."""

    class_name: str
    """Id or slug."""
    title: str
    fingerprint: str | None = None
    """What makes two sightings the same trouble. Without one the title is it, case and spacing aside."""
    session: str | None = None
    build: str | None = None
    """The commit the observing session ran on."""
    key: str | None = None
    """The caller's own name for this call: a second call with it writes nothing."""
    seen_at: str | None = None
    """When it was seen (a timestamp), where that is not now: an event may be told late."""


def by_hand(class_name: str | None, title: str | None, **more: str | None) -> Sighting:
    """The sighting of somebody who has typed it; raises OverdeckError (usage) where class or title is missing."""
    if class_name is None or title is None:
        missing = " and ".join(
            name for name, value in (("--class", class_name), ("--title", title)) if value is None
        )
        raise usage(f"an incident needs {missing}", hint='od-incidents open --class hook-timeout --title "…"')
    return Sighting(class_name, title, **more)


@dataclass(frozen=True)
class Opened:
    """What became of a sighting."""

    incident: Incident
    created: bool
    """False when there was an incident already."""
    recorded: bool
    """False when this very call (its key) had been recorded before."""
    earlier: tuple[str, ...]
    """Ids of closed incidents of the same class and fingerprint: they hold what was done the last time."""
    log: Path
    """The file it is recorded in."""
    recurrence: Recurrence | None = None
    """What it means that it was seen after the end; None where it was new, or open."""

    @property
    def trailer(self) -> str:
        """What the message of the commit that fixes it must hold."""
        return f"Incident: {self.incident.id}"


@dataclass(frozen=True)
class _Checked:
    """A sighting whose texts may be recorded."""

    kind: IncidentClass
    fingerprint: str
    said: dict[str, str]
    seen_at: str | None

    def alike(self, state: State) -> list[Incident]:
        return [i for i in state.incidents if (i.class_id, i.fingerprint) == (self.kind.id, self.fingerprint)]


def open_incident(
    registry: Registry,
    sighting: Sighting,
    at: str,
    *,
    warn: Warn,
    repo: Path | None = None,
    patience_s: float = PATIENCE_S,
) -> Opened:
    """Record ``sighting`` at the time ``at`` (a timestamp); ``record_sightings`` has the rules."""
    return record_sightings(registry, [sighting], at, warn=warn, repo=repo, patience_s=patience_s)[0]


def record_sightings(
    registry: Registry,
    sightings: Sequence[Sighting],
    at: str,
    *,
    warn: Warn,
    repo: Path | None = None,
    patience_s: float = PATIENCE_S,
) -> tuple[Opened, ...]:
    """Record ``sightings`` in one turn at the time ``at`` (a timestamp), all of them or none.

    One incident is open per (class, fingerprint): a second sighting is counted on it. One that is resolved is
    reopened where the session's build had the fix (asked of ``repo``, by default the registry's repository) or where
    nobody can tell; on an older build the sighting is only counted. What was left as wont-fix stays, and a new
    incident is opened. Raises OverdeckError for an unknown class (3), unfit text or a log that cannot be written (2),
    a busy log (75).
    """
    classes = taxonomy.load(registry.taxonomy)
    checked = [_check(sighting, classes) for sighting in sightings]
    where = repo or registry.root
    opened: list[Opened] = []

    def decide(turn: Turn) -> None:
        opened.extend(_see(turn, one, where) for one in checked)

    recorded = record(registry, at, decide, warn=warn, patience_s=patience_s)
    return tuple(
        Opened(
            recorded.state.get(one.incident.key),
            one.created,
            one.recorded,
            one.earlier,
            recorded.log,
            one.recurrence,
        )
        for one in opened
    )


def _see(turn: Turn, sighting: _Checked, repo: Path) -> Opened:
    """Say in this turn what the sighting amounts to."""
    nowhere = Path()
    known = _recorded_under(turn.state, sighting.said.get("key"))
    if known is not None:
        if (known.class_id, known.fingerprint) != (sighting.kind.id, sighting.fingerprint):
            raise usage(
                f"the key {sighting.said['key']!r} has been used for {known.id} ({known.slug}: {known.title})",
                code="key-reused",
                hint="leave --key out, or give this sighting a key of its own",
            )
        return Opened(known, created=False, recorded=False, earlier=(), log=nowhere)
    alike = sighting.alike(turn.state)
    earlier = tuple(incident.id for incident in alike if incident.state != OPEN)
    seen = {} if sighting.seen_at is None else {"seen_at": sighting.seen_at}
    said: dict[str, object] = {**sighting.said, **seen}
    running = next((incident for incident in alike if incident.state == OPEN), None)
    ended = [incident for incident in alike if incident.state in (RESOLVED, EVIDENCE_LOST)]
    if running is not None:
        turn.say(Draft("occurrence", running.key, said))
        return Opened(running, created=False, recorded=True, earlier=earlier, log=nowhere)
    if not ended:
        place = {"class": sighting.kind.slug, "class_id": sighting.kind.id, "fingerprint": sighting.fingerprint}
        event = turn.say(Draft("opened", "", {**place, **said}))
        for left in alike:  # as wont-fix: whoever reads the new one finds the reason there
            turn.say(Draft("linked", event.id, {"to": left.key}))
        return Opened(turn.state.get(event.id), created=True, recorded=True, earlier=earlier, log=nowhere)
    last = ended[-1]
    recurrence = judge(last, sighting.said.get("build"), sighting.seen_at, repo)
    turn.say(Draft("occurrence", last.key, {**said, "recurrence": str(recurrence)}))
    if recurrence in (Recurrence.again, Recurrence.suspect):
        because = _why(recurrence, sighting.said.get("build"))
        doubt = {"suspect": True} if recurrence is Recurrence.suspect else {}
        turn.say(Draft("reopened", last.key, {"because": because, **doubt}))
    others = tuple(name for name in earlier if name != last.id)
    return Opened(last, created=False, recorded=True, earlier=others, log=nowhere, recurrence=recurrence)


def _why(recurrence: Recurrence, build: str | None) -> str:
    if recurrence is Recurrence.again:
        return f"seen again on {str(build)[:12]}, which has the fix"
    if build is None:
        return "seen again by a session of unknown build"
    return f"seen again on {build[:12]}, of which nobody can tell whether it has the fix"


def _check(sighting: Sighting, classes: taxonomy.Taxonomy) -> _Checked:
    kind = classes.find(sighting.class_name)
    title = accept("--title", sighting.title, TITLE_LIMIT)
    fingerprint = (
        accept("--fingerprint", sighting.fingerprint, TITLE_LIMIT)
        if sighting.fingerprint is not None
        else title.casefold()
    )
    if sighting.build is not None and not re.fullmatch(r"[0-9a-f]{7,64}", sighting.build):
        raise usage(
            f"--build {sighting.build!r} is no SHA: 7 to 64 of the digits 0-9 a-f",
            code="bad-sha",
            hint="git rev-parse HEAD, in the tree that the session runs on",
        )
    context = {
        name: accept(f"--{name}", value, TITLE_LIMIT)
        for name, value in (("session", sighting.session), ("build", sighting.build), ("key", sighting.key))
        if value is not None
    }
    return _Checked(kind, fingerprint, {"title": title, **context}, sighting.seen_at)


def _recorded_under(state: State, key: str | None) -> Incident | None:
    """The incident on which the call with this ``--key`` was recorded."""
    if key is None:
        return None
    for incident in state.incidents:
        for event in incident.events:
            if event.kind in {"opened", "occurrence"} and event.body.get("key") == key:
                return incident
    return None
