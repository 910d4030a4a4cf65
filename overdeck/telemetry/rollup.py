"""Counts per hour, kept at ingest, so that a report costs the same whatever the number of rows.

Beside every chunk it is noted from which byte on a file's rows are not counted yet (table ``uncounted``), in the
transaction that brings the rows; ``settle`` counts the hours those rows fall into again, from the rows themselves. So a
kill between the two costs nothing but the counting. ``prune`` deletes rows older than the retention; a late line for
such an hour is added to its counts.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.telemetry import schema
from overdeck.telemetry.sources import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_KINDS = ("calls", "runs", "fires")
_LONGEST = timedelta(days=7)
_GAP = 6 * HOUR
"""Hours no further apart than this are counted in one scan."""


def rows_between(kind: str, start: str, end: str) -> str:
    """The rows of ``kind`` that count, from ``start`` (inclusive) to ``end``: SQL, both names of parameters.

    The same rows as of the views ``counted_*``, with the range said on both sides of their anti joins.
    """
    within = f"ts >= {start} and ts < {end}"
    if kind == "calls":
        return f"(from calls where {within} and not coalesce(starts_with(session, 'overdeck-'), false))"
    if kind == "runs":
        probes = f"from calls where {within} and starts_with(session, 'overdeck-')"
        return f"(from runs anti join (select source, pos {probes}) using (source, pos) where {within})"
    # A probe's line stands at most its own length and 5 ms from the fire (schema.VIEWS): look a minute around.
    around = f"ts >= {start} - interval 1 minute and ts < {end} + interval 1 minute"
    probe_fires = (
        "select f.source, f.pos from "
        f"(select source, pos, ts, us from calls where {around} and starts_with(session, 'overdeck-')) p "
        f"join (from runs where {around} and \"end\" = 'fire') n using (source, pos) "
        f"join (from fires where {within}) f on n.module = f.module and n.event = f.event "
        "where f.ts between p.ts - to_microseconds(coalesce(p.us, 0) + 5000) "
        "and p.ts + to_microseconds(coalesce(p.us, 0) + 5000)"
    )
    return f"(from fires anti join ({probe_fires}) using (source, pos) where {within})"


_COUNT = {
    "calls": "select date_trunc('hour', ts), client, plan, event, tool, sub, count(*), min(ts), max(ts)",
    "runs": "select date_trunc('hour', ts), client, plan, event, tool, sub, module, count(*), "
    "count(*) filter (\"end\" = 'error'), count(*) filter (\"end\" = 'timeout'), coalesce(sum(us), 0)::bigint, "
    "coalesce(sum(bytes), 0)::bigint, min(ts), max(ts)",
    "fires": "select date_trunc('hour', ts), event, module, action, count(*), min(ts), max(ts)",
}


def note(connection: "DuckDBPyConnection", source: Source) -> None:
    """Say that what ``source`` gives from its offset on is not counted yet, in the caller's transaction."""
    connection.execute("insert into uncounted values (?, ?, ?)", [source.kind, source.id, source.offset])


def settle(connection: "DuckDBPyConnection") -> None:
    """Count the hours of all rows that are not counted yet, in one transaction of its own.

    An hour is counted again from its rows. Where rows of it are gone (``about.rows_from``, ``fuller``), what is new is
    added instead, and goes too where all rows of that hour are gone.
    """
    connection.begin()
    rows_from = connection.execute("select rows_from from about").fetchall()[0][0]
    pending = connection.execute("select kind, source, min(pos) from uncounted group by all").fetchall()
    fuller = {(kind, hour) for kind, hour in connection.execute("from fuller").fetchall()}
    hours = _hours(connection, pending)
    late: dict[str, list[datetime]] = {}
    for kind in _KINDS:
        whole = [hour for hour in hours[kind] if hour >= rows_from and (kind, hour) not in fuller]
        for start, end in _ranges(whole):
            connection.execute(f"delete from {kind}_by_hour where hour >= ? and hour < ?", [start, end])
            _count(connection, kind, start, end)
        late[kind] = sorted(set(hours[kind]) - set(whole))
        for hour in late[kind]:
            for counted, source, pos in pending:
                if counted == kind or (kind == "runs" and counted == "calls"):
                    _count(connection, kind, hour, hour + HOUR, source=source, pos=pos)
    for kind in _KINDS:
        if late[kind]:  # only now: runs and fires are counted by the calls beside them
            connection.execute(f"delete from {kind} where ts < ?", [rows_from])
    if pending:
        connection.execute("delete from uncounted")
    connection.commit()


def newest(connection: "DuckDBPyConnection", now: datetime) -> datetime:
    """The hour of the newest line, at most ``now``: a clock that jumped ahead must not make everything old."""
    row = connection.execute(
        "select greatest((select max(hour) from calls_by_hour), (select max(hour) from fires_by_hour))"
    ).fetchone()
    return min(now, row[0]) if row and row[0] is not None else now


def prune(connection: "DuckDBPyConnection", keep_from: datetime) -> None:
    """Delete rows before ``keep_from`` (naive UTC), once a day and by whole hours; they are counted by now."""
    cut = keep_from.replace(minute=0, second=0, microsecond=0)
    rows_from = connection.execute("select rows_from from about").fetchall()[0][0]
    if cut - rows_from < _DAY:
        return
    connection.begin()
    for kind in _KINDS:
        connection.execute(f"delete from {kind} where ts < ?", [cut])
    connection.execute("delete from quarantine where seen < ?", [cut])
    connection.execute("update about set rows_from = ?", [cut])
    connection.execute("delete from fuller where hour < ?", [cut])
    connection.commit()


def take_over(connection: "DuckDBPyConnection", published: Path) -> list[str]:
    """Into a database made anew and settled: the counts of hours whose logs are gone, from the copy published before.

    An hour of which the copy counted more than the logs still hold is taken from the copy, whole. Returns what the user
    should know.
    """
    from overdeck.telemetry import engine

    if not published.exists():
        return []
    quoted = str(published).replace("'", "''")
    lost = f"the counts of hours whose logs are gone are lost: {published}"
    try:
        connection.execute(f"attach '{quoted}' as before (read_only)")
    except engine.Error as error:
        return [f"{lost}: {str(error).splitlines()[0]}"]
    try:
        version = connection.execute("select version from before.about").fetchall()[0][0]
        if version < schema.COUNTS_SINCE:
            return []  # of a version that deleted no rows: its logs have told all
        if version != schema.VERSION:
            return [f"{lost} (it is of version {version})"]
        connection.begin()
        for kind in _KINDS:
            connection.execute(
                "create or replace temp table more as select hour from "
                f"(select hour, sum(n) as n from before.{kind}_by_hour group by hour) b left join "
                f"(select hour, sum(n) as n from {kind}_by_hour group by hour) h using (hour) "
                "where b.n > coalesce(h.n, 0)"
            )
            connection.execute(f"delete from {kind}_by_hour where hour in (from more)")
            connection.execute(f"insert into {kind}_by_hour from before.{kind}_by_hour where hour in (from more)")
            connection.execute("insert into fuller select ?, hour from more", [kind])
        for table in ("combinations", "plans", "routes"):
            connection.execute(f"insert into {table} from before.{table} except from {table}")
        connection.commit()
    except engine.Error as error:
        return [f"{lost}: {str(error).splitlines()[0]}"]
    finally:
        with suppress(engine.Error):
            connection.rollback()  # of what was not committed
        connection.execute("detach before")
    return []


def _hours(connection: "DuckDBPyConnection", pending: Sequence[tuple[str, int, int]]) -> dict[str, list[datetime]]:
    """The hours whose counts the pending rows change, by kind: their own; those of the fires about a probe's call."""
    found: dict[str, set[datetime]] = {kind: set() for kind in _KINDS}
    for kind, source, pos in pending:
        own = {
            hour
            for (hour,) in connection.execute(
                f"select distinct date_trunc('hour', ts) from {kind} where source = ? and pos >= ?", [source, pos]
            ).fetchall()
        }
        found[kind] |= own
        if kind == "calls":
            found["runs"] |= own
            for edges in connection.execute(
                "select distinct date_trunc('hour', ts - to_microseconds(coalesce(us, 0) + 5000)), "
                "date_trunc('hour', ts + to_microseconds(coalesce(us, 0) + 5000)) "
                "from calls where source = ? and pos >= ? and starts_with(session, 'overdeck-')",
                [source, pos],
            ).fetchall():
                found["fires"].update(edges)
    return {kind: sorted(hours) for kind, hours in found.items()}


def _ranges(hours: list[datetime]) -> list[tuple[datetime, datetime]]:
    """Stretches of neighbouring hours, each as (start, end), no longer than ``_LONGEST``: that bounds the memory."""
    ranges: list[tuple[datetime, datetime]] = []
    for hour in hours:
        if ranges and hour - ranges[-1][1] <= _GAP and hour + HOUR - ranges[-1][0] <= _LONGEST:
            ranges[-1] = (ranges[-1][0], hour + HOUR)
        else:
            ranges.append((hour, hour + HOUR))
    return ranges


def _count(
    connection: "DuckDBPyConnection",
    kind: str,
    start: datetime,
    end: datetime,
    *,
    source: int | None = None,
    pos: int = 0,
) -> None:
    """Insert the counts of all rows in a range, or of those of one ``source`` from byte ``pos`` on."""
    connection.execute(
        f"insert into {kind}_by_hour {_COUNT[kind]} from {rows_between(kind, '$start', '$end')} "
        "where $source is null or (source = $source and pos >= $pos) group by all",
        {"start": start, "end": end, "source": source, "pos": pos},
    )
