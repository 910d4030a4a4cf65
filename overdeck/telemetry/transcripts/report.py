"""What the transcripts below one folder say: what each hook command cost, which failed and why, and how that moved.

Records are not runs: a hook that succeeded and said nothing usually leaves none. All times are UTC.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overdeck.paths import Places
from overdeck.telemetry.status import Refused
from overdeck.telemetry.transcripts.costs import (
    CommandCost,
    EventDay,
    Failure,
    SessionCost,
    TranscriptReport,
)
from overdeck.telemetry.transcripts.files import Listing, list_transcripts
from overdeck.telemetry.transcripts.ingest import Progress
from overdeck.telemetry.transcripts.records import RUNS, words
from overdeck.telemetry.transcripts.schema import EVENT_COST

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from overdeck.telemetry.transcripts.takein import TakenIn

MOST_FAILURES = 50
MOST_SESSIONS = 20
MOST_REFUSED = 20
EXAMPLES = 3

_LONGEST_LINE = 1 << 20
_LONGEST_WORDS = 160


def examine(
    places: Places,
    root: Path,
    *,
    since: timedelta | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> TranscriptReport | None:
    """Take in what is new below ``root`` and report on it; None where there is no transcript (and no DuckDB needed).

    ``since`` limits the records reported on, not what is read.
    """
    root = root.absolute()
    listing = list_transcripts(root)
    if not listing.files:
        return None
    from overdeck.telemetry.transcripts.takein import taken_in

    moment = now or datetime.now(UTC)
    with taken_in(places, listing, moment, progress) as taken:
        return _report(taken, root, listing, moment, since)


def _report(
    taken: "TakenIn", root: Path, listing: Listing, moment: datetime, length: timedelta | None
) -> TranscriptReport:
    connection = taken.connection
    since = moment - length if length else None
    _select(connection, root, since)
    runs, sessions, first, last = rows_of(connection, _TOTALS)[0]
    ahead = connection.execute(_AHEAD, [moment.astimezone(UTC).replace(tzinfo=None)]).fetchone()
    unit = _unit(last - first if runs else timedelta())
    refused = rows_of(connection, _REFUSED)
    commands = [
        CommandCost(command, tuple(events), *rest) for command, events, *rest in rows_of(connection, COMMANDS)
    ]
    commands.sort(key=lambda row: (not (row.never_started or row.mostly_killed), -row.total_ms, -row.runs))
    return TranscriptReport(
        root=root,
        since=since,
        files=len(listing.files),
        bytes=sum(file.size for file in listing.files),
        runs=runs,
        sessions=sessions,
        ahead=ahead[0] if ahead else 0,
        first=first,
        last=last,
        commands=tuple(commands),
        failures=tuple(Failure(*row) for row in rows_of(connection, _FAILURES)),
        worst_sessions=tuple(SessionCost(*row) for row in rows_of(connection, _SESSIONS)),
        events=_events(connection, "day"),
        unit=unit,
        trend=_events(connection, unit),
        others=dict(rows_of(connection, _OTHERS)),
        refused=tuple(
            Refused(file, reason, lines, tuple(offsets)) for file, reason, lines, offsets in refused[:MOST_REFUSED]
        ),
        refused_lines=sum(row[2] for row in refused),
        read=taken.read,
        kept=taken.kept,
        warnings=taken.warnings,
    )


def _events(connection: "DuckDBPyConnection", unit: str) -> tuple[EventDay, ...]:
    query = EVENT_COST.format(rows="here", unit=unit)
    return tuple(EventDay(*row) for row in rows_of(connection, f"{query} order by day, event"))


def _unit(span: timedelta) -> str:
    """The length of time of which a span is few."""
    return "day" if span.days < 6 else "week" if span.days < 42 else "month"


def example(failure: Failure) -> str:
    """What the latest of these records failed with, one short line, read from the transcript; kept nowhere.

    Empty where the file is gone or says something else by now.
    """
    try:
        with Path(failure.file).open("rb") as opened:
            opened.seek(failure.offset)
            text = words(opened.readline(_LONGEST_LINE))
    except OSError:
        return ""
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    if not lines:
        return ""
    # The last line of a traceback is the one that says what happened.
    chosen = lines[-1] if "Traceback (most recent call last)" in text else lines[0]
    shown = chosen.removeprefix("Failed with non-blocking status code: ")
    return shown if len(shown) <= _LONGEST_WORDS else shown[: _LONGEST_WORDS - 1] + "…"


def _select(connection: "DuckDBPyConnection", root: Path, since: datetime | None) -> None:
    """Make ``below``, the files at or below the root, and ``here``, their records, each counted once.

    A copy counts where the record it is a copy of is in a file elsewhere.
    """
    connection.execute(
        "create or replace temp table below as select id, path from transcript_files "
        "where path = $root or starts_with(path, $folder)",
        {"root": str(root), "folder": f"{str(root).rstrip('/')}/"},
    )
    after = f"ts >= timestamp '{since.astimezone(UTC).replace(tzinfo=None).isoformat(' ')}'" if since else "true"
    everything = rows_of(connection, "select count(*) = (select count(*) from transcript_files) from below")[0][0]
    connection.execute(
        f"create or replace temp view here as select * from transcript_hooks where {after}"
        if everything
        else f"""
create or replace temp view here as
with mine as (from transcript_records where source in (select id from below) and {after})
select * exclude (copy) from mine where not copy
union all
select distinct on (uuid) * exclude (copy) from mine
where copy and uuid not in (select uuid from mine where not copy) order by uuid, session, source, pos
"""
    )


_RUNS = f"outcome in {RUNS}"
_TOTALS = f"select count(*), count(distinct session), min(ts), max(ts) from here where {_RUNS}"
_AHEAD = "select count(*) from here where ts > ?"
COMMANDS = f"""
select command, list_sort(list(distinct event)), count(*), count(duration_ms),
    round(quantile_cont(duration_ms, 0.5), 1), round(quantile_cont(duration_ms, 0.95), 1), max(duration_ms),
    coalesce(sum(duration_ms), 0)::bigint, count(*) filter (outcome = 'killed'),
    count(*) filter (outcome = 'cancelled'), count(*) filter (outcome = 'not-started'),
    count(*) filter (outcome = 'error'), count(*) filter (outcome = 'blocked'), count(*) filter (acted),
    sum(injected_bytes)::bigint, min(ts), max(ts), max(ts) filter (outcome in ('ok', 'blocked'))
from here where {_RUNS} group by command order by command
"""
"""What each command in ``here`` cost: the fields of ``CommandCost``."""
_FAILURES = f"""
select command, exit_code, failure, n, last, path, pos from (
    select command, exit_code, failure, count(*) as n, max(ts) as last,
        unnest(arg_max(struct_pack(source := source, pos := pos), (ts, source, pos)))
    from here where failure is not null group by command, exit_code, failure
) join below on below.id = source
order by n desc, last desc, command, exit_code, failure limit {MOST_FAILURES}
"""
_SESSIONS = f"""
select session, count(*), coalesce(sum(duration_ms), 0)::bigint as total, count(*) filter (outcome = 'killed'),
    count(*) filter (outcome = 'not-started'), count(*) filter (outcome = 'error'), min(ts)
from here where {_RUNS} group by session order by total desc, session limit {MOST_SESSIONS}
"""
_OTHERS = """
select kind, sum(records)::bigint from transcript_others where source in (select id from below)
group by kind order by 2 desc, 1
"""
_REFUSED = f"""
select path, reason, count(*), list_sort(list("offset"))[:{EXAMPLES}] from quarantine join below on below.id = -source
group by path, reason order by 3 desc, 1, 2
"""


def rows_of(connection: "DuckDBPyConnection", query: str) -> list[tuple[Any, ...]]:
    """The rows, with times that say that they are UTC."""
    return [
        tuple(value.replace(tzinfo=UTC) if isinstance(value, datetime) else value for value in row)
        for row in connection.execute(query).fetchall()
    ]
