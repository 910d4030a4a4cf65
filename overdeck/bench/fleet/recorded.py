"""Event rates from what the dispatcher recorded: calls of each kind, over the time that sessions worked.

A session works from call to call; a gap longer than IDLE counts as IDLE, because a person went away or one tool
ran for long, and an hour at lunch must not make hooks look cheap. Our own probes' calls are not counted.
"""

from datetime import UTC, datetime, timedelta

from overdeck.bench.fleet.rates import EXAMPLE, Rate, Rates, Record, is_tool
from overdeck.dispatch.clients import CLAUDE_EVENTS, SOURCES, TOOL_EVENTS
from overdeck.errors import OverdeckError, not_found
from overdeck.paths import Places
from overdeck.telemetry.store import reader
from overdeck.telemetry.words import span

IDLE = timedelta(minutes=5)

_CALLS = (
    "create or replace temp table fleet_calls as select session, ts, event, coalesce(tool, '') as tool "
    "from counted_calls where ts >= $start and ts <= $now and client = 'claude' and session <> ''"
)
# `least` passes over NULL: without the filter a session's first call, which follows none, would count as IDLE.
_WORKED = (
    "select count(distinct session), coalesce(sum(least(gap, $idle)) filter (gap is not null), 0)::bigint, count(*) "
    "from (select session, date_diff('microsecond', lag(ts) over (partition by session order by ts), ts) as gap "
    "from fleet_calls)"
)
_COUNTS = "select event, tool, count(*) from fleet_calls group by event, tool order by count(*) desc, event, tool"


def recorded_rates(places: Places, *, since: timedelta, now: datetime | None = None) -> Rates:
    """The rates of Claude Code's sessions in the window, from the published copy of the telemetry database.

    Raises OverdeckError (exit 3) where there is no telemetry, no call in the window, or no session that made two.
    """
    now = now or datetime.now(UTC)
    try:
        start = now - since
    except OverflowError:
        start = datetime.min.replace(tzinfo=UTC)
    if not places.published.exists():
        raise _none(f"{places.published} does not exist, so nothing was recorded")
    with reader(places) as published:
        published.connection.execute(_CALLS, {"start": _naive(start), "now": _naive(now)})
        row = published.connection.execute(_WORKED, {"idle": round(IDLE.total_seconds() * 1e6)}).fetchone()
        counts = published.connection.execute(_COUNTS).fetchall()
        last = published.connection.execute("select max(ts) from counted_calls where client = 'claude'").fetchone()
    assert row is not None and last is not None  # aggregates without groups give one row
    sessions, worked_us, calls = row
    if not calls:
        seen = f"the last call was {span(now - last[0].replace(tzinfo=UTC))} ago" if last[0] else "nor before"
        raise _none(f"no call was recorded in the last {span(since)}, {seen}", hint="--since 4w, or ")
    if not worked_us:
        raise _none(f"no session in the last {span(since)} made more than one call", hint="--since 4w, or ")
    worked_s = worked_us / 1e6
    return Rates(
        tuple(
            Rate(event, _subject(event, tool), count / worked_s)
            for event, tool, count in counts
            if event in CLAUDE_EVENTS and (event not in TOOL_EVENTS or is_tool(tool))
        ),
        f"recorded in {places.calls_log.name}",
        Record(since, sessions, timedelta(seconds=worked_s), calls),
    )


def _subject(event: str, tool: str) -> str:
    """The front logs no source of a SessionStart: most are start-ups."""
    if event == "SessionStart":
        return tool or SOURCES[0]
    return tool if event in TOOL_EVENTS else ""


def _none(why: str, *, hint: str = "") -> OverdeckError:
    return not_found(
        f"there are no event rates: {why}",
        code="no-rates",
        hint=f"{hint}say them: --sessions 20 --rate {EXAMPLE} (overdeck install records them from then on)",
    )


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)
