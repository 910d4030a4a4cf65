"""What the transcripts that were taken in say of each hook command, in a window: read-only, on the published copy."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from overdeck.telemetry.report import FireLine
from overdeck.telemetry.series import DAYS, first_day, laid_out
from overdeck.telemetry.transcripts.costs import CommandCost
from overdeck.telemetry.transcripts.records import RUNS
from overdeck.telemetry.transcripts.report import COMMANDS, rows_of
from overdeck.telemetry.transcripts.schema import has_tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class Lately:
    """By command line: what its runs cost since the start of the window, when it last acted, its acts of each day.

    ``read`` is False where no transcript was ever taken in: then nothing is known, and nothing was seen to be quiet.
    """

    costs: Mapping[str, CommandCost]
    last_act: Mapping[str, datetime]
    daily: Mapping[str, tuple[int, ...]]
    read: bool


NOTHING = Lately({}, {}, {}, read=False)


def lately(connection: "DuckDBPyConnection", now: datetime, window: datetime, event: str | None = None) -> Lately:
    """What was recorded from ``window`` (aware) on; days and last acts are of all that is kept."""
    if (
        not has_tables(connection, "telemetry")
        or not connection.execute("from transcript_files limit 1").fetchall()
    ):
        return NOTHING
    start = window.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
    only = "" if event is None else f" and event = '{event.replace(chr(39), chr(39) * 2)}'"
    connection.execute(
        f"create or replace temp view here as from transcript_hooks where ts >= timestamp '{start}'{only}"
    )
    costs = [
        CommandCost(command, tuple(events), *rest) for command, events, *rest in rows_of(connection, COMMANDS)
    ]
    acted = f"from transcript_hooks where acted and command is not null and outcome in {RUNS}{only}"
    last = rows_of(connection, f"select command, max(ts) {acted} group by command")
    days = connection.execute(
        f"select command, ts::date - $first::date as day, count(*) {acted} and ts >= $first "
        "group by command, day having day < $days",
        {"first": first_day(now), "days": DAYS},
    ).fetchall()
    return Lately(
        {cost.command: cost for cost in costs if cost.command is not None}, dict(last), laid_out(days), read=True
    )


def last_acts(connection: "DuckDBPyConnection", command: str, n: int) -> list[FireLine]:
    """The last ``n`` recorded acts of a command, newest first: ``deny`` where it blocked, else ``act``."""
    if not has_tables(connection, "telemetry"):
        return []
    rows = connection.execute(
        "select ts, event, if(outcome = 'blocked', 'deny', 'act') from transcript_hooks "
        f"where command = ? and acted and outcome in {RUNS} order by ts desc, source desc, pos desc limit ?",
        [command, n],
    ).fetchall()
    return [FireLine(ts.replace(tzinfo=UTC), event, action) for ts, event, action in rows]
