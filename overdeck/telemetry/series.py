"""What moved day by day: fires of every module, and what one module or hook cost. Days are UTC, the last is today."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DAYS = 30
"""How far back the series reach, today included."""


@dataclass(frozen=True)
class DayCost:
    """What one day cost: ``runs`` that were timed, and milliseconds. A day without a run is not listed."""

    day: date
    runs: int
    p50_ms: float
    p95_ms: float
    total_ms: float


def fires_per_day(
    connection: "DuckDBPyConnection", now: datetime, event: str | None = None
) -> dict[str, tuple[int, ...]]:
    """Module → its fires on each of the last ``DAYS`` days, oldest first; ``event`` limits the count."""
    rows = connection.execute(
        # not "group by all": with a parameter in the expression DuckDB 1.5.5 groups by the bare hour
        "select module, hour::date - $first::date as day, sum(n)::bigint from fires_by_hour "
        "where hour >= $first and ($event is null or event = $event) group by module, day having day < $days",
        {"first": first_day(now), "event": event, "days": DAYS},
    ).fetchall()
    return laid_out(rows)


def laid_out(rows: Iterable[tuple[str, int, int]]) -> dict[str, tuple[int, ...]]:
    """(name, day from 0, count) as name → all days, those without a row zero."""
    days: dict[str, list[int]] = {}
    for name, day, count in rows:
        days.setdefault(name, [0] * DAYS)[day] = count
    return {name: tuple(counts) for name, counts in days.items()}


def module_costs(connection: "DuckDBPyConnection", module: str, now: datetime) -> list[DayCost]:
    """What a module's runs cost on each of the last ``DAYS`` days, oldest first, from the rows that are still kept."""
    return _costs(
        connection.execute(
            "select ts::date as day, count(us), quantile_cont(us, [0.5, 0.95]), sum(us) from counted_runs "
            "where module = ? and ts >= ? and us is not null group by day order by day",
            [module, first_day(now)],
        ).fetchall(),
        1000,
    )


def hook_costs(connection: "DuckDBPyConnection", command: str, now: datetime) -> list[DayCost]:
    """The same of a hook that is no module, as far as the transcripts recorded it."""
    return _costs(
        connection.execute(
            "select ts::date as day, count(duration_ms), quantile_cont(duration_ms, [0.5, 0.95]), sum(duration_ms) "
            "from transcript_hooks where command = ? and ts >= ? and duration_ms is not null group by day order by day",
            [command, first_day(now)],
        ).fetchall(),
        1,
    )


def _costs(rows: Iterable[tuple[date, int, list[float], int]], of_a_ms: int) -> list[DayCost]:
    return [
        DayCost(day, runs, p50 / of_a_ms, p95 / of_a_ms, total / of_a_ms) for day, runs, (p50, p95), total in rows
    ]


def first_day(now: datetime) -> date:
    """The day on which the series begin; ``now`` is aware."""
    return now.astimezone(UTC).date() - timedelta(days=DAYS - 1)
