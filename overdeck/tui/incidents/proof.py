"""A proof on its way: a worker thread drives it, the page and its window look at it, and anybody may call it off."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from threading import Event

from overdeck.errors import OverdeckError
from overdeck.incidents.text import shown
from overdeck.incidents.watching import NOTICE_S, Watch
from overdeck.tui.incidents.calls import Answers, Call, Done

HEARD_LIMIT = 16_384
"""Bytes of the end of what runs print that are kept for the reader."""


class Stage(StrEnum):
    """How far it is."""

    running = "running"
    asking = "asking"
    done = "done"
    refused = "refused"


@dataclass
class Proof:
    """Written by the worker, except for what the user has seen and answers; read by everybody."""

    call: Call
    id: str
    """The incident's; "" where it is about all of them."""
    key: str
    answers: Answers
    since: datetime
    gone: Callable[[], bool] = field(default=lambda: False)
    """Whether the application ends: nobody waits any more then."""
    stage: Stage = Stage.running
    question_seen: bool = False
    """Whether a window has shown the plan to the user; the window says so."""
    steps: list[str] = field(default_factory=list)
    plan: Sequence[str] = ()
    heard: bytes = b""
    outcome: Done | None = None
    error: OverdeckError | None = None
    _cancelled: Event = field(default_factory=Event)
    _answered: Event = field(default_factory=Event)
    _agreed: bool = False

    @property
    def heading(self) -> str:
        return self.call.heading.format(id=self.id)

    @property
    def typed(self) -> str:
        """The command that does the same."""
        return self.call.typed(self.id, self.answers)

    @property
    def over(self) -> bool:
        return self.stage in (Stage.done, Stage.refused)

    @property
    def cancelled(self) -> bool:
        """Whether somebody has called it off; it takes a moment to end."""
        return self._cancelled.is_set()

    @property
    def watch(self) -> Watch:
        """For the core."""
        return Watch(self.steps.append, self._hear, lambda: self.cancelled or self.gone())

    def consent(self, plan: Sequence[str]) -> bool:
        """Ask, in the worker, and wait for the answer."""
        self.plan, self.stage = tuple(plan), Stage.asking
        while not self._answered.wait(NOTICE_S):
            if self.cancelled or self.gone():
                return False
        self.stage = Stage.running
        return self._agreed

    def answer(self, agreed: bool) -> None:
        """What the user says to the plan."""
        self._agreed = agreed
        self._answered.set()

    def cancel(self) -> None:
        self._cancelled.set()

    def end(self, result: Done | OverdeckError) -> None:
        if isinstance(result, Done):
            self.outcome, self.stage = result, Stage.done
        else:
            self.error, self.stage = result, Stage.refused

    def output(self, lines: int) -> list[str]:
        """The last lines that runs printed, fit for a screen."""
        return [shown(line) for line in self.heard.decode("utf-8", "replace").splitlines()[-lines:]]

    def _hear(self, piece: bytes) -> None:
        self.heard = (self.heard + piece)[-HEARD_LIMIT:]
