"""The handlers of one kind of call, which of them the client runs, and what that was measured to cost."""

from dataclasses import dataclass
from typing import NamedTuple

from overdeck.dispatch.matchers import CLAUDE_EVENTS
from overdeck.wiring.settings import Handler


class Job(NamedTuple):
    """The handlers that one event starts for one subject."""

    event: str
    subject: str
    handlers: tuple[Handler, ...]

    @property
    def answering(self) -> tuple[Handler, ...]:
        """Those that the client runs, of whatever type: none of a dropped file, none under an unknown event."""
        if self.event not in CLAUDE_EVENTS:
            return ()
        return tuple(handler for handler in self.handlers if not handler.dropped)


def runnable(job: Job) -> tuple[Handler, ...]:
    """The handlers of ``job`` that the client starts as a program: what costs, and all that --measure may run."""
    return tuple(handler for handler in job.answering if handler.starts_process)


class Failure(NamedTuple):
    """A handler that never did its work. ``missing`` is the program that was not there; empty where it started."""

    pointer: str
    command: str
    why: str
    missing: str = ""


@dataclass(frozen=True)
class Measured:
    """Medians of one job's runs, and the handlers that never really ran."""

    wall_ms: float
    cpu_ms: float
    runs: int
    failures: tuple[Failure, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every handler started: what was measured without some of them is no measurement of the job."""
        return not any(failure.missing for failure in self.failures)
