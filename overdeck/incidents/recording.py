"""Saying something in the log: read under the writer's lock, decide, append, all in one turn."""

from collections.abc import Callable, Container
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.incidents.current import Current, Warn, read
from overdeck.incidents.event import Event, seal
from overdeck.incidents.fold import OPEN, State, fold
from overdeck.incidents.ids import DIGITS, code
from overdeck.incidents.registry import Registry
from overdeck.incidents.writer import PATIENCE_S, writing


class Draft(NamedTuple):
    """An event that is still to be sealed; ``incident`` (its key) is empty for ``opened``."""

    kind: str
    incident: str
    said: dict[str, Any]


class Recorded(NamedTuple):
    """The registry after a turn, what was said in it (merges left out), and the file it is in."""

    state: State
    events: tuple[Event, ...]
    log: Path


class Turn:
    """One turn at the log: what it says now, and what is added to it."""

    def __init__(self, registry: Registry, now: Current, writer: str, at: str) -> None:
        self._state: State | None = now.state
        self.said: list[Event] = []
        self.lines: list[bytes] = []
        self._registry, self._writer, self._at = registry, writer, at
        self._events, self._lamport = list(now.history.events), now.history.lamport

    @property
    def state(self) -> State:
        """The registry with what was said in this turn."""
        if self._state is None:
            self._state = fold(self._events)
        return self._state

    def say(self, draft: Draft) -> Event:
        """Seal ``draft``; it is in ``state`` from now on, and it is on the disk when the turn is over."""
        clock: dict[str, Any] = {
            "lamport": self._lamport + len(self.lines) + 1,
            "at": self._at,
            "writer": self._writer,
        }
        if draft.kind == "opened":
            event, line = self._opening(set(self.state.ids.values()), clock, draft.said)
        else:
            event, line = seal(draft.kind, incident=draft.incident, **clock, **draft.said)
        self.said.append(event)
        self.lines.append(line)
        self._events.append(event)
        self._state = None
        return event

    def _opening(self, taken: Container[str], clock: dict[str, Any], said: dict[str, Any]) -> tuple[Event, bytes]:
        """The ``opened`` event, with the fewest digits that give it an id of its own."""
        prefix = self._registry.prefix
        for digits in DIGITS:
            event, line = seal("opened", **clock, prefix=prefix, digits=digits, **said)
            if f"{prefix}-{code(event.id)[:digits]}" not in taken:
                break
        return event, line


def record(
    registry: Registry, at: str, decide: Callable[[Turn], None], *, warn: Warn, patience_s: float = PATIENCE_S
) -> Recorded:
    """Let ``decide`` say what it has to while this writer's file is held; nothing is written if it raises.

    Open incidents of one class and fingerprint, which a git merge has brought together, are merged on the way, so that
    the next count is on one of them. Raises OverdeckError: busy (75), a log that cannot be written (2).
    """
    with writing(registry.log, patience_s) as writer:
        turn = Turn(registry, read(registry, warn), writer.id, at)
        for draft in _twins(turn.state):
            turn.say(draft)
        merges = len(turn.said)
        decide(turn)
        if len(turn.said) > merges:
            writer.append(turn.lines)
    return Recorded(turn.state, tuple(turn.said[merges:]), writer.path)


def _twins(state: State) -> list[Draft]:
    """A ``merged`` event for every open incident that is of the class and fingerprint of an older open one."""
    oldest: dict[tuple[str, str], str] = {}
    drafts = []
    for incident in state.incidents:
        if incident.state == OPEN:
            into = oldest.setdefault((incident.class_id, incident.fingerprint), incident.key)
            if into != incident.key:
                drafts.append(Draft("merged", incident.key, {"into": into}))
    return drafts
