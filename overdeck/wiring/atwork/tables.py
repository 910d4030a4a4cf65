"""A look in words: the columns and lines that the terminal and the screen show."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from overdeck.column import Column, Row
from overdeck.machine.changes import MACHINE, Change, place_shown
from overdeck.machine.hookprocesses import HookProcess
from overdeck.telemetry.livecalls import BUCKETS, EventCost
from overdeck.telemetry.words import ago, percent, size, span, sparkline
from overdeck.wiring.atwork.look import Look

UNSAID = "-"
"""A number that this system, or this group, does not say: never a zero."""

NO_CALLS = "no call was ever logged. Type: overdeck install; where that was done, use the client"
LONGER = "overdeck doctor --watch 30s"
"""What tells whether a strain lasts."""
NO_CLIENT = "no client runs now, so no hook can be at work"


def _text(title: str, value: Callable[[Row], str]) -> Column[Row]:
    return Column(title, title, lambda row, _now: value(row), value)


def _number(title: str, value: Callable[[Row], float | None], text: Callable[[float], str]) -> Column[Row]:
    def shown(row: Row, _now: datetime) -> str:
        found = value(row)
        return UNSAID if found is None else text(found)

    def order(row: Row) -> float:
        found = value(row)
        return -1.0 if found is None else float(found)

    return Column(title, title, shown, order, right=True, largest_first=True)


def _grown(count: float) -> str:
    return f"{'-' if count < 0 else '+' if count else ''}{size(int(abs(count)))}"


def _size(count: float) -> str:
    return size(int(count))


def _share(value: float) -> str:
    return percent(100 * value) if value >= 0.001 else "0 %"


def _waited(resource: str) -> Callable[[Change], float | None]:
    return lambda change: change.waited[resource]


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _rate(value: float) -> str:
    return f"{_size(value)}/s"


CHANGES: tuple[Column[Change], ...] = (
    Column(
        "place",
        "place",
        lambda change, _now: place_shown(change),
        lambda change: (change.place != MACHINE, change.place),
    ),
    _number("cpu wait", _waited("cpu"), _share),
    _number("memory wait", _waited("memory"), _share),
    _number("disk wait", _waited("io"), _share),
    _number("throttled", lambda change: change.throttled_ms, lambda ms: f"{ms:.0f} ms"),
    _number("memory", lambda change: change.memory, _size),
    _number("grown", lambda change: change.memory_grown, _grown),
    _number("memory max", lambda change: change.memory_max, _size),
    _number("read", lambda change: change.read_per_s, _rate),
    _number("written", lambda change: change.written_per_s, _rate),
    _number("processes", lambda change: change.processes, _whole),
    _number("processes max", lambda change: change.processes_max, _whole),
    _number("oom kills", lambda change: change.oom_kills, _whole),
)


def said(changes: Iterable[Change], now: datetime) -> tuple[list[Change], list[Column[Change]]]:
    """The places of which something is counted, and the columns in which something is."""
    place, *others = CHANGES
    rows = [one for one in changes if any(column.text(one, now) != UNSAID for column in others)]
    filled = [column for column in others if any(column.text(one, now) != UNSAID for one in rows)]
    return rows, [place, *filled]


HOOKS: tuple[Column[HookProcess], ...] = (
    _text("hook", lambda one: one.hook),
    Column(
        "age",
        "age",
        lambda one, now: age(one.age_s(now.timestamp())),
        lambda one: -one.process.started,
        right=True,
        largest_first=True,
    ),
    Column(
        "state",
        "state",
        lambda one, _now: "ORPHAN" if one.orphan else "at work",
        lambda one: one.orphan,
        largest_first=True,
    ),
    _number("pid", lambda one: one.process.pid, lambda pid: f"{pid:.0f}"),
    _text("command", lambda one: one.process.shown),
    _text("parent", lambda one: one.parent),
    _text("client", lambda one: one.client or UNSAID),
    _number("memory", lambda one: one.process.rss, _size),
)


def _ms(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


EVENTS: tuple[Column[EventCost], ...] = (
    _text("event", lambda one: one.event),
    _number("calls", lambda one: one.calls, _whole),
    _number("calls/s", lambda one: one.per_s, lambda rate: f"{rate:.2f}"),
    _number("p50 ms", lambda one: one.p50_ms, _ms),
    _number("p95 ms", lambda one: one.p95_ms, _ms),
    _number("ms per s", lambda one: one.ms_per_s, _ms),
    _number("share", lambda one: one.share, _share),
    _number("fired", lambda one: one.fired, _whole),
    _number("errors", lambda one: one.failed, _whole),
)


def age(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min``."""
    return f"{seconds:.1f} s" if seconds < 10 else span(timedelta(seconds=seconds))


def verdict_line(found: Look) -> str:
    """Whether the machine is strained, and by what; where it is, what looks longer."""
    verdict = found.verdict
    return f"{verdict.said}. Next: {LONGER}" if verdict.strains else verdict.said


def machine_line(found: Look) -> str:
    """The whole machine in one line."""
    parts = []
    if found.load is not None:
        parts.append(f"load {found.load.one:.2f} on {found.load.processors} processors")
    if found.steal is not None:
        parts.append(f"{_share(found.steal)} stolen by the hypervisor")
    clients = f"{found.clients} client{'s' * (found.clients != 1)} alive"
    parts.append(clients if found.readable else "the process table cannot be read")
    return ", ".join([*parts, f"in {age(found.seconds)}"] if found.watched else parts)


def unsaid_lines(found: Look) -> list[str]:
    """What is not counted here, and what is not known yet."""
    early = [] if found.watched else ["what grows is shown from the second look on"]
    return [*early, *found.unsaid]


def hooks_line(found: Look) -> str:
    """How many processes of hooks are alive, and how many of them nobody waits for."""
    if not found.readable:
        return "the process table cannot be read here"
    if not found.hooks:
        return "no process of a hook is alive" if found.clients else NO_CLIENT
    oldest = found.hooks[0]
    since = age(oldest.age_s(found.at.timestamp()))
    count = len(found.hooks)
    said = f"{count} process{'es' * (count != 1)} of hooks, the oldest {since} ({oldest.hook})"
    if orphans := found.orphans:
        ids = " ".join(str(one.process.pid) for one in orphans)
        said += f"; {len(orphans)} ORPHAN{'S' * (len(orphans) != 1)}, which no client waits for: kill {ids}"
    return said


def calls_line(found: Look) -> str:
    """How often hooks are called now."""
    calls = found.calls
    if calls.last is None:
        return NO_CALLS
    if not calls.calls:
        return f"no call in {age(calls.span_s)}; the log was last written to {ago(calls.last, found.at)}"
    damaged = f", {calls.damaged} damaged lines" if calls.damaged else ""
    return (
        f"{calls.calls:,} calls in {age(calls.span_s)}: {calls.per_s:.2f}/s, "
        f"clients wait {_ms(calls.ms_per_s)} ms per s{damaged}"
    )


def history_line(found: Look) -> str:
    """The calls of the last minute as bars, now at the right."""
    return f"last minute {sparkline(found.calls.history, BUCKETS)} now"


def filter_hooks(hooks: Iterable[HookProcess], text: str, *, orphans: bool = False) -> list[HookProcess]:
    """Those whose hook, command, parent, client or number contains every word of ``text``, whatever its case."""
    words = text.casefold().split()

    def about(one: HookProcess) -> str:
        return f"{one.hook} {one.process.shown} {one.parent} {one.client} {one.process.pid}".casefold()

    return [one for one in hooks if (one.orphan or not orphans) and all(word in about(one) for word in words)]


def hook_details(one: HookProcess, now: datetime) -> str:
    """One process in a line, as it is copied."""
    return "  ".join(f"{column.title} {column.text(one, now)}" for column in HOOKS)
