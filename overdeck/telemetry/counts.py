"""The queries of the report, on the published copy: one scan of each table, whatever the windows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

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
    first_seen = connection.execute("select id, first_seen from modules").fetchall()
    return Tallies(
        modules=modules,
        happened=happened,
        calls_known=_any(connection, "calls"),
        fires_known=_any(connection, "fires"),
        first_seen={id: _aware(moment) for id, moment in first_seen},
        us=us,
        context_bytes=context_bytes,
    )


def _asked(
    connection: "DuckDBPyConnection", of: Callable[[str], Tally], marks: list[datetime], event: str | None
) -> Happened:
    """Fill in who was asked; returns how often each event happened.

    A call asks the modules its plan routes it to, and any other that ran: a plan may not be known.
    """
    each = ", ".join(f"count(*) filter (ts >= $since{i})" for i in range(len(marks)))
    parameters: dict[str, object] = {f"since{i}": _naive(mark) for i, mark in enumerate(marks)}
    where = _where(parameters, event)
    connection.execute(
        "create or replace temp table combined as "
        f"select client, plan, event, tool, sub, min(ts) as first, max(ts) as last, [{each}] as n "
        f"from counted_calls {where} group by client, plan, event, tool, sub",
        parameters,
    )
    connection.execute(
        "create or replace temp table strays as "
        f"select module, min(ts) as first, max(ts) as last, [{each}] as n "
        f"from counted_runs anti join routes using (client, plan, tool, sub, module) {where} group by module",
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
    parameters: dict[str, object] = {"since": _naive(window), "ahead": _naive(now + CLOCK_TOLERANCE)}
    where = _where(parameters, event)
    actions = ", ".join(
        f"count(*) filter (ts >= $since and action = '{action}')" for action in ("deny", "advise", "act")
    )
    for id, deny, advise, act, ever, last, future in connection.execute(
        f"select module, {actions}, count(*), max(ts), count(*) filter (ts > $ahead) "
        f"from counted_fires {where} group by module",
        parameters,
    ).fetchall():
        entry = of(id)
        entry.deny, entry.advise, entry.act = deny, advise, act
        entry.fired_ever, entry.last_fire, entry.future = ever, _aware(last), future


def _runs(
    connection: "DuckDBPyConnection", of: Callable[[str], Tally], window: datetime, event: str | None
) -> tuple[int, int]:
    """Fill in times, sizes and failures; returns the microseconds and bytes of all modules together."""
    parameters: dict[str, object] = {"since": _naive(window)}
    where = _where(parameters, event, "ts >= $since")
    us_of_all = bytes_of_all = 0
    for id, errors, timeouts, quantiles, us, size in connection.execute(
        "select module, count(*) filter (\"end\" = 'error'), count(*) filter (\"end\" = 'timeout'), "
        "quantile_cont(us, [0.5, 0.95, 0.99]), coalesce(sum(us), 0)::bigint, coalesce(sum(bytes), 0)::bigint "
        f"from counted_runs {where} group by module",
        parameters,
    ).fetchall():
        entry = of(id)
        entry.errors, entry.timeouts = errors, timeouts
        if quantiles:
            entry.p50_ms, entry.p95_ms, entry.p99_ms = (value / 1000 for value in quantiles)
        entry.us, entry.context_bytes = us, size
        us_of_all += us
        bytes_of_all += size
    return us_of_all, bytes_of_all


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
