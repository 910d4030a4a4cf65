"""The cost model: costs of single events times how often they happen, summed to a machine's load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from overdeck.bench.bootstrap import Estimate
from overdeck.bench.fleet.arithmetic import pull, scaled, total_of_means, totals_ratio
from overdeck.bench.fleet.rates import Rate, Rates, Session
from overdeck.bench.starts.counter import Count

FEWEST_SESSIONS = 6
"""With fewer recorded sessions it cannot be told how much they differ."""


class Span(NamedTuple):
    """Starts a second, from the least to the most that was counted; equal where every run was the same."""

    low: float
    high: float


class EventCost(NamedTuple):
    """What one event costs in one arm: a value a run; empty tuples where it starts no hook."""

    cpu_s: tuple[float, ...]
    wall_s: tuple[float, ...]
    process_starts: Count | None = None
    """None where nobody counted."""
    program_starts: Count | None = None
    starts_exact: bool = True
    """False: ``process_starts`` is an upper bound."""


NOTHING = EventCost((), (), Count(0, 0), Count(0, 0))
"""An event that starts no hook in this arm."""


@dataclass(frozen=True)
class ArmTotal:
    """One arm's load. ``share`` is of all the machine's processors; ``ratio`` is CPU over the first arm's."""

    name: str
    shown: str
    cores: Estimate
    share: Estimate
    process_starts_s: Span | None
    program_starts_s: Span | None
    starts_exact: bool
    ratio: Estimate | None
    costs: Mapping[str, EventCost]
    """By the word of the rate; an event with a rate that is missing here was not measured."""


@dataclass(frozen=True)
class Fleet:
    """The outcome: every arm under the same rates."""

    sessions: int
    processors: int
    rates: Rates
    arms: tuple[ArmTotal, ...]

    @property
    def counted(self) -> tuple[Rate, ...]:
        """The rates whose events were measured."""
        return tuple(rate for rate in self.rates.rows if rate.word in self.arms[0].costs)

    @property
    def unmeasured(self) -> tuple[Rate, ...]:
        """The rates whose events were not."""
        return tuple(rate for rate in self.rates.rows if rate.word not in self.arms[0].costs)


def fleet_of(
    arms: Sequence[tuple[str, str, Mapping[str, EventCost]]], rates: Rates, *, sessions: int, processors: int
) -> Fleet:
    """The totals of ``arms`` (name, what it is, cost by the rate's word) for ``sessions`` sessions at ``rates``.

    Only events that every arm has a cost for are summed: the others are ``Fleet.unmeasured``.
    """
    counted = [rate for rate in rates.rows if all(rate.word in costs for _name, _shown, costs in arms)]
    weights = [sessions * rate.per_second for rate in counted]
    recorded = distinct_sessions(rates)
    worked = [session.worked_s for session in recorded]
    chosen = [{rate.word: costs[rate.word] for rate in counted} for _name, _shown, costs in arms]
    samples = [[cost.cpu_s for cost in of_arm.values()] for of_arm in chosen]
    each = [_by_session(recorded, counted, of_arm) for of_arm in samples]
    totals = []
    for which, (name, shown, _costs) in enumerate(arms):
        cores = total_of_means(weights, samples[which], pull(each[which], worked))
        costs = chosen[which]
        totals.append(
            ArmTotal(
                name=name,
                shown=shown,
                cores=cores,
                share=scaled(cores, 1 / processors),
                process_starts_s=_rate_of([cost.process_starts for cost in costs.values()], weights),
                program_starts_s=_rate_of([cost.program_starts for cost in costs.values()], weights),
                starts_exact=all(cost.starts_exact for cost in costs.values()),
                ratio=totals_ratio(weights, samples[0], samples[which], pull(each[which], each[0]))
                if which
                else None,
                costs=costs,
            )
        )
    return Fleet(sessions, processors, rates, tuple(totals))


def distinct_sessions(rates: Rates) -> tuple[Session, ...]:
    """The recorded sessions whose differences are part of the intervals: none where there are too few to tell."""
    sessions = rates.record.sessions if rates.record else ()
    return sessions if len(sessions) >= FEWEST_SESSIONS else ()


def _by_session(
    sessions: Sequence[Session], rates: Sequence[Rate], samples: Sequence[Sequence[float]]
) -> list[float]:
    """What the events of each session would cost, in CPU seconds."""
    means = {
        (rate.event, rate.subject): fmean(sample) if sample else 0.0
        for rate, sample in zip(rates, samples, strict=True)
    }
    return [
        sum(means.get(moment, 0.0) * count for moment, count in session.counts.items()) for session in sessions
    ]


def _rate_of(counts: Sequence[Count | None], weights: Sequence[float]) -> Span | None:
    """Starts a second; None where one event's starts are not known."""
    low = high = 0.0
    for count, weight in zip(counts, weights, strict=True):
        if count is None:
            return None
        low += weight * count.low
        high += weight * count.high
    return Span(low, high)
