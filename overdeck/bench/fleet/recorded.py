"""Event rates from what the dispatcher recorded: calls of each kind, over the time that sessions worked.

A session works from call to call; a gap longer than IDLE counts as IDLE, because a person went away or one tool
ran for long, and an hour at lunch must not make hooks look cheap. Our own probes' calls are not counted.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from overdeck.bench.fleet.rates import EXAMPLE, Moment, Rate, Rates, Record, Session, by_rate, is_tool
from overdeck.dispatch.clients import TOOL_EVENTS
from overdeck.dispatch.matchers import CLAUDE_EVENTS, SOURCES
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
    "select session, coalesce(sum(least(gap, $idle)) filter (gap is not null), 0)::bigint "
    "from (select session, date_diff('microsecond', lag(ts) over (partition by session order by ts), ts) as gap "
    "from fleet_calls) group by session order by session"
)
_COUNTS = "select session, event, tool, count(*) from fleet_calls group by all order by all"


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
        worked = published.connection.execute(_WORKED, {"idle": round(IDLE.total_seconds() * 1e6)}).fetchall()
        counts = published.connection.execute(_COUNTS).fetchall()
        last = published.connection.execute("select max(ts) from counted_calls where client = 'claude'").fetchone()
    assert last is not None  # an aggregate without groups gives one row
    record = _record(since, worked, counts)
    if not record.calls:
        seen = f"the last call was {span(now - last[0].replace(tzinfo=UTC))} ago" if last[0] else "nor before"
        raise _none(f"no call was recorded in the last {span(since)}, {seen}", hint="--since 4w, or ")
    worked_s = record.worked.total_seconds()
    if not worked_s:
        raise _none(f"no session in the last {span(since)} made more than one call", hint="--since 4w, or ")
    total: Counter[Moment] = Counter()
    for session in record.sessions:
        total.update(session.counts)
    rows = [Rate(event, subject, count / worked_s) for (event, subject), count in total.items()]
    return Rates(by_rate(rows), f"recorded in {places.calls_log.name}", record)


def _record(
    window: timedelta, worked: Sequence[tuple[str, int]], counts: Sequence[tuple[str, str, str, int]]
) -> Record:
    """Sessions with their counts; what no client calls an event or a tool is left out."""
    of_session: dict[str, Counter[Moment]] = {session: Counter() for session, _ in worked}
    for session, event, tool, count in counts:
        if event in CLAUDE_EVENTS and (event not in TOOL_EVENTS or is_tool(tool)):
            of_session[session][event, _subject(event, tool)] += count
    return Record(window, tuple(Session(us / 1e6, of_session[session]) for session, us in worked))


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
