"""The queries of the report, on the published copy: counts per hour, and rows only for the hours that windows cut."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from overdeck.telemetry.rollup import HOUR, rows_between

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CLOCK_TOLERANCE = timedelta(minutes=2)
"""A line further ahead of our clock than this is said to lie in the future."""


@dataclass
class Tally:
    """What the logs say of one module: ``asked`` by the start of each window; all times aware UTC.

    ``deny``, ``advise``, ``act``, failures, times and sizes are of the window that was asked for; ``us`` is
    wall time in microseconds. ``future`` counts fires ahead of the clock.
    """

    asked: dict[datetime, int] = field(default_factory=dict)
    last_asked: datetime | None = None
    first_evidence: datetime | None = None
    deny: int = 0
    advise: int = 0
    act: int = 0
    fired_ever: int = 0
    last_fire: datetime | None = None
    future: int = 0
    errors: int = 0
    timeouts: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    us: int = 0
    context_bytes: int = 0
    in_a_plan: bool = False

    @property
    def fired(self) -> int:
        return self.deny + self.advise + self.act


Happened = dict[tuple[str, bool], dict[datetime, int]]
"""(event, in a subagent?) → start of a window → calls since then."""


@dataclass(frozen=True)
class Tallies:
    """All modules the logs name. ``us`` and ``context_bytes`` are of all of them together, in the window."""

    modules: dict[str, Tally]
    happened: Happened
    calls_known: bool
    fires_known: bool
    first_seen: dict[str, datetime]
    returned: dict[str, datetime]
    us: int
    context_bytes: int


def tally(
    connection: "DuckDBPyConnection",
    *,
    window: datetime,
    starts: Sequence[datetime],
    now: datetime,
    event: str | None = None,
) -> Tallies:
    """Count everything once. ``window`` is where the asked-for window starts, ``starts`` where all others do.

    ``event`` limits every count to one event. All times aware UTC.
    """
    marks = sorted({window, *starts})
    modules: dict[str, Tally] = {}

    def of(id: str) -> Tally:
        return modules.setdefault(id, Tally(asked=dict.fromkeys(marks, 0)))

    happened = _asked(connection, of, marks, event)
    _fires(connection, of, window, now, event)
    us, context_bytes = _runs(connection, of, window, event)
    seen = connection.execute("select id, first_seen, returned from modules").fetchall()
    return Tallies(
        modules=modules,
        happened=happened,
        calls_known=_any(connection, "calls_by_hour") or _any(connection, "calls"),
        fires_known=_any(connection, "fires_by_hour"),
        first_seen={id: _aware(first) for id, first, _ in seen},
        returned={id: _aware(returned) for id, _, returned in seen if returned is not None},
        us=us,
        context_bytes=context_bytes,
    )


def _asked(
    connection: "DuckDBPyConnection", of: Callable[[str], Tally], marks: list[datetime], event: str | None
) -> Happened:
    """Fill in who was asked; returns how often each event happened.

    A call asks the modules its plan routes it to, and any other that ran: a plan may not be known.
    """
    parameters: dict[str, object] = {}
    where = _where(parameters, event)
    each = ", ".join(f"sum(n{i})" for i in range(len(marks)))
    keys = "client, plan, event, tool, sub"
    connection.execute(
        f"create or replace temp table combined as select {keys}, min(first) as first, max(last) as last, "
        f"[{each}]::bigint[] as n from ({_since_marks('calls', keys, marks, parameters)}) {where} group by {keys}",
        parameters,
    )
    keys = "client, plan, tool, sub, module"
    connection.execute(
        f"create or replace temp table strays as select module, min(first) as first, max(last) as last, "
        f"[{each}]::bigint[] as n from ({_since_marks('runs', f'{keys}, event', marks, parameters)}) "
        f"anti join routes using ({keys}) {where} group by module",
        parameters,
    )
    happened: Happened = {}
    for name, sub, n in connection.execute("select event, sub, n from combined").fetchall():
        _add(happened.setdefault((name, sub), dict.fromkeys(marks, 0)), n)
    for id, last, n in connection.execute(
        "select module, last, n from combined join routes using (client, plan, tool, sub) "
        "union all select module, last, n from strays"
    ).fetchall():
        entry = of(id)
        entry.last_asked = max(_aware(last), entry.last_asked or _aware(last))
        _add(entry.asked, n)
    for id, first in connection.execute(
        "select module, min(first) from ("
        "select plans.module, first from combined join plans using (client, plan) "
        "union all select module, first from strays) group by module"
    ).fetchall():
        of(id).first_evidence = _aware(first)
        of(id).in_a_plan = True
    return happened


def _fires(
    connection: "DuckDBPyConnection",
    of: Callable[[str], Tally],
    window: datetime,
    now: datetime,
    event: str | None,
) -> None:
    parameters: dict[str, object] = {}
    where = _where(parameters, event)
    marks = [window, now + CLOCK_TOLERANCE]
    actions = ", ".join(
        f"coalesce(sum(n0) filter (action = '{action}'), 0)" for action in ("deny", "advise", "act")
    )
    for id, deny, advise, act, ever, last, future in connection.execute(
        f"select module, {actions}, sum(n), max(last), sum(n1) "
        f"from ({_since_marks('fires', 'module, event, action', marks, parameters)}) {where} group by module",
        parameters,
    ).fetchall():
        entry = of(id)
        entry.deny, entry.advise, entry.act = int(deny), int(advise), int(act)
        entry.fired_ever, entry.last_fire, entry.future = int(ever), _aware(last), int(future)


def _runs(
    connection: "DuckDBPyConnection", of: Callable[[str], Tally], window: datetime, event: str | None
) -> tuple[int, int]:
    """Fill in times, sizes and failures; returns the microseconds and bytes of all modules together.

    Times come from the rows, which the retention may have shortened; all else from the counts.
    """
    us_of_all = bytes_of_all = 0
    parameters: dict[str, object] = {}
    where = _where(parameters, event)
    sums = ("errors", "timeouts", "us", "bytes")
    picked = ", ".join(f"coalesce(sum({name}) filter (n0 > 0), 0)::bigint" for name in sums)
    for id, errors, timeouts, us, size in connection.execute(
        f"select module, {picked} from ({_since_marks('runs', 'module, event', [window], parameters, sums)}) {where} "
        "group by module having sum(n0) > 0",
        parameters,
    ).fetchall():
        entry = of(id)
        entry.errors, entry.timeouts, entry.us, entry.context_bytes = errors, timeouts, us, size
        us_of_all += us
        bytes_of_all += size
    parameters = {"since": _naive(window), "end": datetime.max}
    where = _where(parameters, event)
    for id, quantiles in connection.execute(
        f"select module, quantile_cont(us, [0.5, 0.95, 0.99]) from {rows_between('runs', '$since', '$end')} "
        f"{where} group by module",
        parameters,
    ).fetchall():
        if quantiles:
            entry = of(id)
            entry.p50_ms, entry.p95_ms, entry.p99_ms = (value / 1000 for value in quantiles)
    return us_of_all, bytes_of_all


_ROW_SUMS = {
    "errors": "(\"end\" = 'error')::int",
    "timeouts": "(\"end\" = 'timeout')::int",
    "us": "coalesce(us, 0)",
    "bytes": "coalesce(bytes, 0)",
}


def _since_marks(
    kind: str, keys: str, marks: Sequence[datetime], parameters: dict[str, object], sums: Sequence[str] = ()
) -> str:
    """SQL of ``keys``, first, last, n, and how much of n lies after each mark (n0, n1, …), from the counts per hour.

    The hour that a mark cuts is counted from its rows, where they are still kept. ``sums`` are summed as well.
    """
    more = "".join(f", {name}" for name in sums)
    full = ", ".join(f"case when hour >= $hour{i} then n else 0 end as n{i}" for i in range(len(marks)))
    parts = [f"select {keys}, first, last, n, {full}{more} from {kind}_by_hour"]
    row_sums = "".join(f", {_ROW_SUMS[name]} as {name}" for name in sums)
    for i, mark in enumerate(marks):
        start = _naive(mark)
        hour = start.replace(minute=0, second=0, microsecond=0)
        parameters[f"hour{i}"] = hour if hour == start else _next(hour)
        if hour != start:
            parameters[f"mark{i}"] = start
            own = ", ".join(f"{int(i == j)} as n{j}" for j in range(len(marks)))
            rows = rows_between(kind, f"$mark{i}", f"$hour{i}")
            parts.append(f"select {keys}, ts as first, ts as last, 0 as n, {own}{row_sums} from {rows}")
    return " union all ".join(parts)


def _next(hour: datetime) -> datetime:
    try:
        return hour + HOUR
    except OverflowError:
        return datetime.max


def _where(parameters: dict[str, object], event: str | None, *conditions: str) -> str:
    wanted = list(conditions)
    if event is not None:
        parameters["event"] = event
        wanted.append("event = $event")
    return f"where {' and '.join(wanted)}" if wanted else ""


def _any(connection: "DuckDBPyConnection", table: str) -> bool:
    return bool(connection.execute(f"from {table} limit 1").fetchall())


def _add(counts: dict[datetime, int], more: Sequence[int]) -> None:
    for mark, count in zip(counts, more, strict=True):
        counts[mark] += count


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)
