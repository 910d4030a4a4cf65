"""The columns of the modules table: one registry from which the terminal, the screen, CSV and JSON are made."""

from collections.abc import Callable, Iterable
from datetime import datetime

from overdeck.column import Column
from overdeck.errors import usage
from overdeck.telemetry.advice import what_to_do
from overdeck.telemetry.report import ModuleRow, Wired
from overdeck.telemetry.verdict import VERDICTS
from overdeck.telemetry.words import ago, iso, percent, size, sparkline

Sortable = str | int | float | tuple[bool, str | int | float]

URGENCY = ("broken", "dead", "unreachable", "removal-candidate", "quiet", "noisy", "unknown", "immature")
"""The order of the table: what asks for a decision first; the rest follow."""


def _count(key: str, title: str = "") -> Column[ModuleRow]:
    def text(row: ModuleRow, _now: datetime) -> str:
        value = getattr(row, key)
        return "?" if value is None else f"{value:,}"

    def order(row: ModuleRow) -> Sortable:
        value = getattr(row, key)
        return -1 if value is None else int(value)

    return Column(key, title or key, text, order, right=True, largest_first=True)


def _urgency(row: ModuleRow) -> int:
    return URGENCY.index(row.verdict) if row.verdict in URGENCY else len(URGENCY) + VERDICTS.index(row.verdict)


def _first(events: list[str]) -> str:
    """The first event, and how many more there are: a module that hears all of them must not break the table.

    >>> _first(["Stop"]), _first(["Stop", "SessionEnd", "PreToolUse"])
    ('Stop', 'Stop +2')
    """
    return " ".join([*events[:1], *([f"+{len(events) - 1}"] if len(events) > 1 else [])])


COLUMNS: tuple[Column[ModuleRow], ...] = (
    Column("module", "module", lambda row, _now: row.id, lambda row: row.id),
    Column("class", "class", lambda row, _now: row.cls, lambda row: row.cls),
    Column(
        "events",
        "events",
        lambda row, _now: _first([name for name, _matcher in row.events]),
        lambda row: " ".join(name for name, _matcher in row.events),
    ),
    _count("asked"),
    _count("fired"),
    _count("errors"),
    _count("timeouts"),
    Column(
        "last-fire",
        "last fire",
        lambda row, now: ago(row.last_fire, now),
        lambda row: row.last_fire.timestamp() if row.last_fire else float("-inf"),
        right=True,
        largest_first=True,
    ),
    Column("verdict", "verdict", lambda row, _now: row.verdict, _urgency),
    Column("why", "why", lambda row, _now: row.why, lambda row: row.why),
)
"""The terminal's: they fit it."""


def _ms(key: str, title: str) -> Column[ModuleRow]:
    def text(row: ModuleRow, _now: datetime) -> str:
        value = getattr(row, key)
        return "?" if value is None else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"

    def order(row: ModuleRow) -> Sortable:
        value = getattr(row, key)
        return -1.0 if value is None else float(value)

    return Column(key.replace("_", "-"), title, text, order, right=True, largest_first=True)


def _daily(key: str, width: int, title: str) -> Column[ModuleRow]:
    """Fires of each day; sorted by how many of them there were."""
    return Column(
        key,
        title,
        lambda row, _now: sparkline(row.daily, width),
        lambda row: sum(row.daily),
        largest_first=True,
    )


def canary_word(row: ModuleRow) -> str:
    """The last result of its matrix in a word; a dash where there can be none."""
    if row.last_canary is None:
        return "not run" if row.adopted and row.enabled and row.cls != "adopted" else "-"
    return "passes" if row.last_canary.passed else "FAILS"


DAILY = _daily("daily", 30, "by day")
DAILY_NARROW = _daily("daily", 10, "by 3 d")
"""The same in a third of the width: three days a bar."""

MORE: tuple[Column[ModuleRow], ...] = (
    DAILY,
    _ms("p50_ms", "p50 ms"),
    _ms("p95_ms", "p95 ms"),
    Column(
        "share",
        "cost",
        lambda row, _now: percent(100 * row.share) if row.total_ms else "?" if row.asked is None else "0 %",
        lambda row: row.share,
        right=True,
        largest_first=True,
    ),
    Column(
        "context-bytes",
        "context",
        lambda row, _now: size(row.context_bytes),
        lambda row: row.context_bytes,
        right=True,
        largest_first=True,
    ),
    Column("canary", "canary", lambda row, _now: canary_word(row), canary_word),
    Column("source", "from", lambda row, _now: row.source, lambda row: row.source),
)
"""What a screen has room for beside them, of a report that is ``whole``."""


RECORD: dict[str, Callable[[ModuleRow], object]] = {
    "id": lambda row: row.id,
    "class": lambda row: row.cls,
    "pack": lambda row: row.pack,
    "events": lambda row: dict(row.events),
    "enabled": lambda row: row.enabled,
    "enabled_since": lambda row: iso(row.enabled_since),
    "lifetime_days": lambda row: row.lifetime_days,
    "last_asked": lambda row: iso(row.last_asked),
    "asked": lambda row: row.asked,
    "fired": lambda row: row.fired,
    "deny": lambda row: row.deny,
    "advise": lambda row: row.advise,
    "act": lambda row: row.act,
    "errors": lambda row: row.errors,
    "timeouts": lambda row: row.timeouts,
    "p50_ms": lambda row: row.p50_ms,
    "p95_ms": lambda row: row.p95_ms,
    "p99_ms": lambda row: row.p99_ms,
    "share": lambda row: row.share,
    "context_bytes": lambda row: row.context_bytes,
    "last_fire": lambda row: iso(row.last_fire),
    "future": lambda row: row.future,
    "keep": lambda row: row.keep,
    "canary": lambda row: row.last_canary.passed if row.last_canary else None,
    "last_canary": lambda row: iso(row.last_canary.ts) if row.last_canary else None,
    "verdict": lambda row: row.verdict,
    "why": lambda row: row.why,
    "next": what_to_do,
    "total_ms": lambda row: row.total_ms,
    "source": lambda row: row.source,
    "client": lambda row: row.client,
    "command": lambda row: row.command,
    "daily": lambda row: list(row.daily),
    "wired": lambda row: [place._asdict() for place in row.wired],
}
"""What JSON and CSV carry of a row: moments ISO-8601 UTC, durations in ms, sizes in bytes."""


def fired(row: ModuleRow) -> str:
    """How often a module fired in the window, and what it did; a gate's question to the owner is logged as "advise"."""
    advise = "advise or ask" if row.cls == "gate" else "advise"
    return f"{row.fired:,} (deny {row.deny:,}, {advise} {row.advise:,}, act {row.act:,})"


def column(key: str) -> Column[ModuleRow]:
    """The column of that key, or of the JSON key beside it; raises OverdeckError (usage) with those there are."""
    name = "module" if key == "id" else key.replace("_", "-")
    for known in (*COLUMNS, *MORE):
        if known.key == name:
            return known
    if recorded := RECORD.get(name.replace("-", "_")):
        return Column(name, name, lambda row, _now: str(recorded(row)), _order_of(recorded), largest_first=True)
    names = (known.key for known in COLUMNS)
    raise usage(
        f"there is no column {key!r}: one of {', '.join(names)}, or a key of --json",
        hint="overdeck fires --sort asked",
    )


def _order_of(value: Callable[[ModuleRow], object]) -> Callable[[ModuleRow], Sortable]:
    """Sort keys of a JSON key's values: what is not known before what is."""

    def order(row: ModuleRow) -> Sortable:
        found = value(row)
        if found is None:
            return False, 0
        return True, found if isinstance(found, int | float) else str(found)

    return order


def details(row: ModuleRow, now: datetime) -> tuple[str, ...]:
    """What the table has no room for, for one module or hook alone: lines of text."""
    times = "/".join("?" if ms is None else f"{ms:g}" for ms in (row.p50_ms, row.p95_ms, row.p99_ms))
    cost = (
        f"p50/p95/p99 {times} ms, {percent(100 * row.share)} share of all hook time, "
        f"context {row.context_bytes:,} bytes"
    )
    days = f"fires of the last {len(row.daily)} days: {sparkline(row.daily, len(row.daily))}" if row.daily else ""
    wired = tuple(f"wired: {place_line(place)}" for place in row.wired)
    if not row.adopted:
        lines = (
            f"next: {what_to_do(row)}",
            f"starts {row.command}",
            f"acted {row.fired:,} (blocked {row.deny:,}), by its records",
            cost,
            days,
        )
        return (*(line for line in lines if line), *wired)
    since = f"{row.enabled_since:%Y-%m-%d}" if row.enabled_since else "?"
    told = (
        f"next: {what_to_do(row)}",
        f"fired {fired(row)}",
        f"enabled since {since}, last asked {ago(row.last_asked, now)}",
        cost,
        f"last canary: {canary_line(row, now)}",
        days,
    )
    return (*(line for line in told if line), *(wired or ("wired: nowhere here: overdeck install",)))


def canary_line(row: ModuleRow, now: datetime) -> str:
    """What the last run of its matrix gave, or why there is none and what to type."""
    if row.cls == "adopted":
        return "none: an adopted hook has a certificate, no matrix: overdeck adopt --check"
    if row.last_canary is None:
        return f"not run: overdeck hooks test {row.id}"
    found = row.last_canary
    cases = f", {found.cases} cases" if found.cases else ""
    return f"{'passed' if found.passed else 'failed'} {ago(found.ts, now)}{cases}" + "".join(
        f"; {failure}" for failure in found.failures
    )


def place_line(place: Wired) -> str:
    """A place of the wiring in one line: event, matcher, file, and why it does not run from there."""
    note = f" (does not run: {place.note})" if place.note else ""
    return f"{place.event}({place.matcher or '*'}) {place.file} {place.pointer}{note}"


def sort_rows(rows: Iterable[ModuleRow], by: Column[ModuleRow]) -> list[ModuleRow]:
    """Rows in the column's own direction; equal ones by id."""
    ordered = sorted(rows, key=lambda row: row.id)
    return sorted(ordered, key=by.order, reverse=by.largest_first)


def filter_rows(rows: Iterable[ModuleRow], text: str) -> list[ModuleRow]:
    """Rows whose id, class, source, events, verdict or client contain every word of ``text``, whatever its case."""
    words = text.lower().split()
    return [row for row in rows if all(word in _searched(row) for word in words)]


def _searched(row: ModuleRow) -> str:
    events = " ".join(event for event, _matcher in row.events)
    return f"{row.id} {row.cls} {row.source} {events} {row.verdict} {row.client}".lower()


def as_record(row: ModuleRow) -> dict[str, object]:
    """A row as JSON carries it; keys in the order of CSV."""
    return {key: value(row) for key, value in RECORD.items()}
