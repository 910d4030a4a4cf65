"""The handlers of one kind of call, which of them the client runs, and what they were measured to cost."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from overdeck.wiring.clients import named
from overdeck.wiring.settings import Handler


class Job(NamedTuple):
    """The handlers that one event starts for one subject in one client."""

    event: str
    subject: str
    handlers: tuple[Handler, ...]
    client: str = "claude"

    @property
    def answering(self) -> tuple[Handler, ...]:
        """Those that the client runs, of whatever type: none of a dropped file, none under an unknown event."""
        if self.event not in named(self.client).EVENTS:
            return ()
        return tuple(handler for handler in self.handlers if not handler.dropped)


def runnable(job: Job) -> tuple[Handler, ...]:
    """The handlers of ``job`` that the client starts as a program: what costs, and all that --measure may run."""
    return tuple(handler for handler in job.answering if handler.starts_process)


class Failure(NamedTuple):
    """A handler that never did its work. ``missing`` is the program that was not there; empty where it started."""

    file: str
    pointer: str
    command: str
    why: str
    missing: str = ""


class Measured(NamedTuple):
    """Medians of one job's runs, all its handlers at once, and the handlers that never really ran."""

    wall_ms: float
    cpu_ms: float
    runs: int
    failures: tuple[Failure, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every handler started: what was measured without some of them is no measurement of the job."""
        return not any(failure.missing for failure in self.failures)


class Alone(NamedTuple):
    """One handler run by itself: medians, and the processes that one more run started (None: nobody could count)."""

    wall_ms: float
    cpu_ms: float
    runs: int
    starts: int | None
    printed_bytes: int


class Measurement(NamedTuple):
    """All that --measure found: jobs by (client, event, subject), handlers by ``hooks.key``, and what to tell."""

    jobs: Mapping[tuple[str, str, str], Measured] = MappingProxyType({})
    alone: Mapping[tuple[object, ...], Alone] = MappingProxyType({})
    notes: tuple[str, ...] = ()

    @property
    def failures(self) -> dict[tuple[str, str], Failure]:
        """By file and pointer, each once."""
        return {(f.file, f.pointer): f for result in self.jobs.values() for f in result.failures}
