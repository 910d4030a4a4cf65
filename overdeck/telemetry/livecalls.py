"""How often hooks are called now, and what each event costs: the last minute of the calls log, line by line."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from overdeck.paths import Places
from overdeck.telemetry.lines import Rejected, call
from overdeck.telemetry.tail import Tail, gained

WINDOW = timedelta(seconds=60)
BUCKETS = 20
"""Bars of the history: three seconds each."""


class SeenCall(NamedTuple):
    """What is kept of one call. ``ts`` is naive UTC; ``us`` the wall time."""

    ts: datetime
    event: str
    us: int | None
    fired: int
    failed: int


class EventCost(NamedTuple):
    """One event in the window. Times are wall ms of a whole call, all modules of the event together."""

    event: str
    calls: int
    per_s: float
    p50_ms: float | None
    p95_ms: float | None
    ms_per_s: float
    """What clients waited, per second of the window: 1000 is one that does nothing else."""
    share: float
    """Of the time of all calls in the window, 0 to 1."""
    fired: int
    failed: int
    """Modules that ended in an error or at their deadline."""


@dataclass(frozen=True)
class LiveCalls:
    """The calls of the last ``span_s`` seconds."""

    span_s: float
    calls: int
    per_s: float
    ms_per_s: float
    events: tuple[EventCost, ...]
    """The dearest first."""
    history: tuple[int, ...]
    """Calls in each of BUCKETS equal pieces of WINDOW, the oldest first."""
    damaged: int
    """Lines that are none, since the first look."""
    last: datetime | None
    """When the calls log was last written to, aware UTC; None where nothing was ever logged."""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Followed:
    """What one look leaves to the next. ``since`` is naive UTC: nothing before it was read."""

    tail: Tail
    calls: tuple[SeenCall, ...]
    since: datetime
    damaged: int


def follow(places: Places, now: datetime, before: Followed | None = None) -> tuple[LiveCalls, Followed]:
    """The calls log at ``now`` (aware UTC), and what the next call of this is to be given. Never raises."""
    new = gained(places, before.tail if before else None)
    moment = now.replace(tzinfo=None)
    first = moment - WINDOW
    damaged = before.damaged if before else 0
    calls = list(before.calls) if before else []
    oldest = None
    for line in new.lines:
        try:
            read = call(line)
        except Rejected:
            damaged += 1
            continue
        oldest = oldest or read.ts
        if read.ts >= first:
            fired = sum(run.end == "fire" for run in read.runs)
            failed = sum(run.end in ("error", "timeout") for run in read.runs)
            calls.append(SeenCall(read.ts, read.event, read.us, fired, failed))
    calls = [one for one in calls if one.ts >= first]
    since = before.since if before else first
    if new.skipped and oldest is not None:  # of what came before it nothing is known
        since = max(since, oldest)
        calls = [one for one in calls if one.ts >= since]
    span_s = max((moment - max(first, since)).total_seconds(), 1.0)
    events = event_costs(calls, span_s)
    live = LiveCalls(
        span_s,
        len(calls),
        len(calls) / span_s,
        sum(event.ms_per_s for event in events),
        events,
        history(calls, moment),
        damaged,
        new.written,
        tuple(new.problems),
    )
    return live, Followed(new.tail, tuple(calls), since, damaged)


def event_costs(calls: Iterable[SeenCall], span_s: float) -> tuple[EventCost, ...]:
    """The calls of ``span_s`` seconds by event, the dearest first."""
    by_event: dict[str, list[SeenCall]] = defaultdict(list)
    for one in calls:
        by_event[one.event].append(one)
    total = sum(one.us or 0 for group in by_event.values() for one in group)
    costs = []
    for event, group in by_event.items():
        times = sorted(one.us / 1000 for one in group if one.us is not None)
        spent = sum(times)
        costs.append(
            EventCost(
                event,
                len(group),
                len(group) / span_s,
                quantile(times, 0.5),
                quantile(times, 0.95),
                spent / span_s,
                1000 * spent / total if total else 0.0,
                sum(one.fired for one in group),
                sum(one.failed for one in group),
            )
        )
    return tuple(sorted(costs, key=lambda cost: (-cost.ms_per_s, -cost.calls, cost.event)))


def history(calls: Iterable[SeenCall], now: datetime) -> tuple[int, ...]:
    """Calls in each piece of WINDOW that ends at ``now`` (naive UTC); one from a clock ahead is the last's."""
    counts = [0] * BUCKETS
    for one in calls:
        left = (now - one.ts) / WINDOW * BUCKETS
        if left < BUCKETS:
            counts[BUCKETS - 1 - max(0, int(left))] += 1
    return tuple(counts)


def quantile(ascending: Sequence[float], share: float) -> float | None:
    """The value that ``share`` of them do not exceed; None of none.

    >>> quantile([1.0, 2.0, 3.0, 10.0], 0.5), quantile([1.0, 2.0, 3.0, 10.0], 0.95), quantile([], 0.5)
    (2.0, 10.0, None)
    """
    if not ascending:
        return None
    return ascending[max(0, -int(-share * len(ascending) // 1) - 1)]
