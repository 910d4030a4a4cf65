"""The tables and views that transcripts fill. ``transcript_hooks`` and ``event_cost`` are stable: users query them.

All timestamps are naive UTC; ``source`` and ``pos`` name the line a row came from: transcript_files.id, byte offset.
Refused lines are in ``quarantine``, whose ``source`` then is minus the id.
"""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# A resumed or forked session's file begins with copies of the records of another: they stay as rows, marked, so that
# which of them counts does not hang on the order in which files were read.
TABLES = """
create table transcript_files (
    id integer, path varchar, device ubigint, inode ubigint, generation integer, head_bytes integer,
    head_hash varchar, tail_hash varchar, "offset" bigint, size bigint, mtime_ns bigint, replaced boolean,
    last_read timestamp
);

create table transcript_records (
    uuid uuid, ts timestamp, session varchar, sub boolean, kind varchar, event varchar, hook varchar, command varchar,
    call bigint, outcome varchar, acted boolean, duration_ms bigint, timeout_ms bigint, exit_code bigint,
    stdout_bytes bigint, stderr_bytes bigint, injected_bytes bigint, failure varchar, copy boolean, source integer,
    pos bigint
);

create table transcript_others (source integer, kind varchar, records bigint);
"""

# Hooks of one event run side by side and the client waits for all of them: the longest is what the call waited.
# What reached the model stands in the run's record, in a note of the same call, or in both; the note of a session's
# start does not say which call it was of (recorded of 2.1.197).
EVENT_COST = """
select day, event, count(*) filter (records > 0) as calls, sum(records)::bigint as records,
    round(quantile_cont(wall_ms, 0.5), 1) as p50_ms, round(quantile_cont(wall_ms, 0.95), 1) as p95_ms,
    max(wall_ms) as max_ms, sum(wall_ms)::bigint as waited_ms, sum(hook_ms)::bigint as hook_ms,
    sum(killed)::bigint as killed, sum(not_started)::bigint as not_started,
    (case when event = 'SessionStart' then greatest(sum(by_runs), sum(by_notes))
        else sum(greatest(by_runs, by_notes)) end)::bigint as injected_bytes
from (
    select date_trunc('{unit}', min(ts))::date as day, event, count(*) filter (outcome <> 'note') as records,
        max(duration_ms) as wall_ms, sum(duration_ms) as hook_ms,
        count(*) filter (outcome = 'killed') as killed, count(*) filter (outcome = 'not-started') as not_started,
        coalesce(sum(injected_bytes) filter (outcome <> 'note'), 0) as by_runs,
        coalesce(sum(injected_bytes) filter (outcome = 'note'), 0) as by_notes
    from {rows} group by event, session, call
)
group by day, event having calls > 0
"""

_VIEWS = f"""
create view transcript_hooks as select * exclude (copy) from transcript_records where not copy;

create view event_cost as {EVENT_COST.format(rows="transcript_hooks", unit="day")};
"""


_HAS_TABLES = "select 1 from duckdb_tables() where table_name = 'transcript_files' and database_name ="


def has_tables(connection: "DuckDBPyConnection", database: str) -> bool:
    """Whether the attached ``database`` holds what transcripts fill: an older version's does not."""
    return connection.execute(f"{_HAS_TABLES} '{database}'").fetchone() is not None


def take_over(connection: "DuckDBPyConnection", published: Path) -> list[str]:
    """Into a database made anew: all that was read before, because the client deletes transcripts after a month.

    Returns what the user should know.
    """
    from overdeck.telemetry import engine

    if not published.exists():
        return []
    try:
        connection.execute(f"attach '{str(published).replace(chr(39), chr(39) * 2)}' as before (read_only)")
        try:
            if connection.execute(f"{_HAS_TABLES} 'before'").fetchone() is not None:
                connection.begin()
                for table in ("transcript_files", "transcript_records", "transcript_others"):
                    connection.execute(f"insert into {table} by name from before.{table}")
                connection.execute("insert into quarantine by name from before.quarantine where source < 0")
                connection.commit()
        finally:
            with suppress(engine.Error):
                connection.rollback()  # of what was not committed
            connection.execute("detach before")
    except engine.Error as error:
        return [f"what deleted transcripts said of hooks is lost: {published}: {str(error).splitlines()[0]}"]
    return []


def ensure(connection: "DuckDBPyConnection") -> None:
    """Make the tables and views where a database of this schema version does not hold them yet."""
    if connection.execute(f"{_HAS_TABLES} current_database()").fetchone() is None:
        connection.begin()
        connection.execute(TABLES)
        connection.execute(_VIEWS)
        connection.commit()
