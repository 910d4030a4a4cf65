"""Adding to an incident: a note, a link to another one, or that it is open again after all."""

from dataclasses import dataclass

from overdeck.errors import usage
from overdeck.incidents.available import may_reopen
from overdeck.incidents.current import Warn, read
from overdeck.incidents.fold import Incident
from overdeck.incidents.recording import Draft, Turn, record
from overdeck.incidents.registry import Registry
from overdeck.incidents.text import TITLE_LIMIT, accept
from overdeck.incidents.writer import PATIENCE_S


@dataclass(frozen=True)
class Added:
    """One incident after the call."""

    incident: Incident
    recorded: bool
    """False when there was nothing to add: this very call (its key) is in the log, or the incident is open."""


def note(
    registry: Registry,
    wanted: str,
    text: str,
    at: str,
    *,
    key: str | None,
    warn: Warn,
    link: str | None = None,
    patience_s: float = PATIENCE_S,
) -> Added:
    """Write ``text`` down on the incident ``wanted``, and that it has to do with the incident ``link``. Raises
    OverdeckError: unfit text, a link to itself (2), no such incident (3)."""
    if not text.strip():
        raise usage(
            f"{wanted} was not noted: TEXT is empty",
            code="empty-text",
            hint=f'od-incidents note {wanted} "what was seen or ruled out"',
        )
    said = {"text": accept("TEXT", text)}
    if link is None:
        return _add(registry, wanted, Draft("noted", "", said), at, key, warn, patience_s)
    state = read(registry, lambda _: None).state
    incident, other = state.find(wanted), state.find(link)
    if incident.key == other.key:
        raise usage(
            f"{wanted} and {link} are one incident, {other.id}: it cannot be linked with itself",
            code="linked-with-itself",
            hint=f"od-incidents show {other.id}",
        )
    return _add(registry, incident.id, Draft("linked", "", {**said, "to": other.key}), at, key, warn, patience_s)


def reopen(
    registry: Registry,
    wanted: str,
    because: str | None,
    at: str,
    *,
    key: str | None,
    warn: Warn,
    patience_s: float = PATIENCE_S,
) -> Added:
    """Open the incident ``wanted`` again; one that is open stays as it is. Raises OverdeckError: no reason (2), no
    such incident (3)."""
    if because is None:
        raise usage(
            f"{wanted} was not reopened: reopen needs --because, for whoever thought that it was over",
            code="no-reason",
            hint=f'od-incidents reopen {wanted} --because "…"',
        )
    said = {"because": accept("--because", because)}
    return _add(registry, wanted, Draft("reopened", "", said), at, key, warn, patience_s)


def recorded_under(incident: Incident, kinds: tuple[str, ...], key: str | None) -> bool:
    """Whether the call with this ``--key`` is among the events of ``incident``."""
    return key is not None and any(
        event.kind in kinds and event.body.get("key") == key for event in incident.events
    )


def _add(
    registry: Registry, wanted: str, draft: Draft, at: str, key: str | None, warn: Warn, patience_s: float
) -> Added:
    name = {} if key is None else {"key": accept("--key", key, TITLE_LIMIT)}

    def needed(incident: Incident) -> bool:
        if draft.kind == "reopened" and not may_reopen(incident):
            return False
        return not recorded_under(incident, (draft.kind,), name.get("key"))

    # Before the turn, which makes this writer's file where there is none.
    incident = read(registry, warn).state.find(wanted)
    if not needed(incident):
        return Added(incident, False)

    def decide(turn: Turn) -> None:
        now = turn.state.get(incident.key)
        if needed(now):
            turn.say(Draft(draft.kind, now.key, {**draft.said, **name}))

    recorded = record(registry, at, decide, warn=lambda _: None, patience_s=patience_s)
    return Added(recorded.state.get(incident.key), bool(recorded.events))
