"""What one kind of call costs, all its handlers together, and what the dispatcher would make of it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from overdeck.wiring import costmodel
from overdeck.wiring.audit.hooks import Known
from overdeck.wiring.handler import Handler
from overdeck.wiring.job import Job, Measured, runnable

Source = Literal["measured", "transcripts", "model", "mixed"]
"""Where a time comes from; ``mixed`` only where several events are summed, and theirs differ."""


@dataclass(frozen=True)
class Cost:
    """One event for one tool, all handlers together; times in milliseconds, stalls in seconds.

    ``handlers`` is what is configured; the rest is what the client really starts, so zero for a dropped file or
    an event it does not know.
    """

    handlers: int
    starts: int
    wall_ms: float
    cpu_ms: float
    source: Source
    """Where ``wall_ms`` comes from."""
    worst_stall_s: float
    sum_of_timeouts_s: float
    unknown: int = 0
    """Handlers whose launcher nobody measured: the times are those of the others, "at least"."""
    cpu_source: Source = "model"
    """Where ``cpu_ms`` comes from: transcripts record no CPU time."""
    starts_source: Literal["counted", "text"] = "text"
    """Whether every start was counted while it ran, or read from the commands' text."""
    recorded: int = 0
    """Handlers whose own recorded durations are in ``wall_ms``."""

    def __add__(self, other: "Cost") -> "Cost":
        parts = [cost for cost in (self, other) if cost.starts]
        return Cost(
            self.handlers + other.handlers,
            self.starts + other.starts,
            round(self.wall_ms + other.wall_ms, 1),
            round(self.cpu_ms + other.cpu_ms, 1),
            _common(cost.source for cost in parts),
            self.worst_stall_s + other.worst_stall_s,
            self.sum_of_timeouts_s + other.sum_of_timeouts_s,
            self.unknown + other.unknown,
            _common(cost.cpu_source for cost in parts),
            "counted" if parts and all(cost.starts_source == "counted" for cost in parts) else "text",
            self.recorded + other.recorded,
        )


NOTHING = Cost(0, 0, 0.0, 0.0, "model", 0.0, 0.0)


class Dispatched(NamedTuple):
    """One moment through the native front: processes and CPU ms, by the model, when nothing acts and when one does."""

    starts: int
    cpu_ms: float
    acting_starts: int
    acting_cpu_ms: float


def cost_of(job: Job, measured: Measured | None, known: Callable[[Handler], Known], *, cores: int) -> Cost:
    """The cost of one job: measured where all its handlers ran, else recorded durations, else the model."""
    answering, started = job.answering, runnable(job)
    waited = [handler.longest_s for handler in answering if not handler.background]
    facts = {handler: known(handler) for handler in started}

    def chain(handler: Handler) -> tuple[list[str], int]:
        return facts[handler].chain

    model = costmodel.model(started, cores=cores, chain_of=chain)
    counts = [fact.starts for fact in facts.values()]
    counted = bool(counts) and None not in counts
    if measured is not None and not measured.whole:
        measured = None
    recorded = [handler for handler in started if not handler.background and facts[handler].p50_ms is not None]
    wall, unknown = model.wall_ms, model.unknown
    source: Source = "model"
    if measured:
        wall, source, unknown = measured.wall_ms, "measured", 0
    elif recorded:
        others = [handler for handler in started if handler not in recorded]
        rest = costmodel.model(others, cores=cores, chain_of=chain)
        wall = max([rest.wall_ms, *(facts[handler].p50_ms or 0.0 for handler in recorded)])
        source, unknown = "transcripts", rest.unknown
    return Cost(
        handlers=len(job.handlers),
        starts=sum(count or 0 for count in counts) if counted else model.starts,
        wall_ms=round(wall, 1),
        cpu_ms=measured.cpu_ms if measured else model.cpu_ms,
        source=source,
        worst_stall_s=max(waited, default=0.0),
        sum_of_timeouts_s=sum(waited),
        unknown=unknown,
        cpu_source="measured" if measured else "model",
        starts_source="counted" if counted else "text",
        recorded=0 if measured else len(recorded),
    )


def dispatched(parts: Iterable[tuple[str, str]], events: Mapping[str, Mapping[str, Cost]]) -> Dispatched:
    """The same moment through the native front: one for each event that starts anything."""
    calls = sum(1 for event, tool in parts if events.get(event, {}).get(tool, NOTHING).starts)
    if not calls:
        return Dispatched(0, 0.0, 0, 0.0)
    front = costmodel.FRONT_CPU_MS
    # the interpreter that the front starts, and the fork of the module that acts
    return Dispatched(
        calls, round(calls * front, 1), calls + 2, round((calls - 1) * front + costmodel.ACTING_CPU_MS, 1)
    )


def _common(sources: Iterable[Source]) -> Source:
    found = set(sources)
    return found.pop() if len(found) == 1 else "mixed" if found else "model"
