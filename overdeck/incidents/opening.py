"""Recording trouble: a new incident, or one more occurrence of an open one."""

import re
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from overdeck.errors import usage
from overdeck.incidents import taxonomy
from overdeck.incidents.current import Warn, read
from overdeck.incidents.event import Event, seal
from overdeck.incidents.fold import OPEN, Incident, State, fold
from overdeck.incidents.ids import DIGITS, code
from overdeck.incidents.registry import Registry
from overdeck.incidents.text import TITLE_LIMIT, accept
from overdeck.incidents.writer import PATIENCE_S, writing


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


@dataclass(frozen=True)
class Opened:
    """What became of a sighting."""

    incident: Incident
    created: bool
    """False when an open incident was there already."""
    recorded: bool
    """False when this very call (its key) had been recorded before."""
    earlier: tuple[str, ...]
    """Ids of closed incidents of the same class and fingerprint: they hold what was done the last time."""
    log: Path
    """The file it is recorded in."""

    @property
    def trailer(self) -> str:
        """What the message of the commit that fixes it must hold."""
        return f"Incident: {self.incident.id}"


def open_incident(
    registry: Registry, sighting: Sighting, at: str, *, warn: Warn, patience_s: float = PATIENCE_S
) -> Opened:
    """Record ``sighting`` at the time ``at`` (a timestamp).

    One incident is open per (class, fingerprint): a second sighting is counted on it. Raises OverdeckError for an
    unknown class (3), unfit text or a log that cannot be written (2), a busy log (75).
    """
    kind = taxonomy.load(registry.taxonomy).find(sighting.class_name)
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
    with writing(registry.log, patience_s) as writer:
        history, state = read(registry, warn)
        alike = [i for i in state.incidents if (i.class_id, i.fingerprint) == (kind.id, fingerprint)]
        earlier = tuple(incident.id for incident in alike if incident.state != OPEN)
        known = _recorded_under(state, context.get("key"))
        if known is not None:
            if (known.class_id, known.fingerprint) != (kind.id, fingerprint):
                raise usage(
                    f"the key {context['key']!r} has been used for {known.id} ({known.slug}: {known.title})",
                    code="key-reused",
                    hint="leave --key out, or give this sighting a key of its own",
                )
            return Opened(known, created=False, recorded=False, earlier=(), log=writer.path)
        running = next((incident for incident in alike if incident.state == OPEN), None)
        clock, said = history.lamport + 1, {"title": title, **context}
        if running is not None:
            event, line = seal("occurrence", lamport=clock, at=at, writer=writer.id, incident=running.key, **said)
        else:
            place = {"class": kind.slug, "class_id": kind.id, "fingerprint": fingerprint, **said}
            event, line = _opening(
                registry.prefix, set(state.ids.values()), clock=clock, at=at, writer=writer.id, said=place
            )
        writer.append([line])
    after = fold((*history.events, event))
    return Opened(after.get(event.incident), running is None, recorded=True, earlier=earlier, log=writer.path)


def _opening(
    prefix: str, taken: Container[str], *, clock: int, at: str, writer: str, said: dict[str, str]
) -> tuple[Event, bytes]:
    """The ``opened`` event, with the fewest digits that give it an id of its own."""
    for digits in DIGITS:
        event, line = seal("opened", lamport=clock, at=at, writer=writer, prefix=prefix, digits=digits, **said)
        if f"{prefix}-{code(event.id)[:digits]}" not in taken:
            break
    return event, line


def _recorded_under(state: State, key: str | None) -> Incident | None:
    """The incident on which the call with this ``--key`` was recorded."""
    if key is None:
        return None
    for incident in state.incidents:
        for event in incident.events:
            if event.kind in {"opened", "occurrence"} and event.body.get("key") == key:
                return incident
    return None
