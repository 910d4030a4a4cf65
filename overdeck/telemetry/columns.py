"""The columns of the modules table: one registry from which the terminal, the screen, CSV and JSON are made."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from overdeck.errors import usage
from overdeck.telemetry.report import ModuleRow
from overdeck.telemetry.verdict import VERDICTS
from overdeck.telemetry.words import ago, iso, percent

Sortable = str | int | float | tuple[bool, str | int | float]

URGENCY = ("broken", "dead", "unreachable", "removal-candidate", "quiet", "noisy", "unknown", "immature")
"""The order of the table: what asks for a decision first; the rest follow."""


@dataclass(frozen=True)
class Column:
    """``text`` takes the row and the time of the report (aware UTC); ``largest_first``: how it sorts at first."""

    key: str
    title: str
    text: Callable[[ModuleRow, datetime], str]
    order: Callable[[ModuleRow], Sortable]
    right: bool = False
    largest_first: bool = False


def _count(key: str, title: str = "") -> Column:
    def text(row: ModuleRow, _now: datetime) -> str:
        value = getattr(row, key)
        return "?" if value is None else f"{value:,}"

    def order(row: ModuleRow) -> Sortable:
        value = getattr(row, key)
        return -1 if value is None else int(value)

    return Column(key, title or key, text, order, right=True, largest_first=True)


def _urgency(row: ModuleRow) -> int:
    return URGENCY.index(row.verdict) if row.verdict in URGENCY else len(URGENCY) + VERDICTS.index(row.verdict)


COLUMNS = (
    Column("module", "module", lambda row, _now: row.id, lambda row: row.id),
    Column("class", "class", lambda row, _now: row.cls, lambda row: row.cls),
    Column(
        "events",
        "events",
        lambda row, _now: " ".join(name for name, _matcher in row.events),
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
}
"""What JSON and CSV carry of a row: moments ISO-8601 UTC, durations in ms, sizes in bytes."""


def fired(row: ModuleRow) -> str:
    """How often a module fired in the window, and what it did; a gate's question to the owner is logged as "advise"."""
    advise = "advise or ask" if row.cls == "gate" else "advise"
    return f"{row.fired:,} (deny {row.deny:,}, {advise} {row.advise:,}, act {row.act:,})"


def column(key: str) -> Column:
    """The column of that key, or of the JSON key beside it; raises OverdeckError (usage) with those there are."""
    name = "module" if key == "id" else key.replace("_", "-")
    for known in COLUMNS:
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
    """What the table has no room for, for one module alone: lines of text."""
    times = "/".join("?" if ms is None else f"{ms:g}" for ms in (row.p50_ms, row.p95_ms, row.p99_ms))
    if row.last_canary:
        canary = f"{'passed' if row.last_canary.passed else 'failed'} {ago(row.last_canary.ts, now)}"
    else:
        silent = row.verdict in ("quiet", "removal-candidate", "dead")
        canary = f"not run: overdeck hooks test {row.id}" if silent else "not asked for, the module is not silent"
    since = f"{row.enabled_since:%Y-%m-%d}" if row.enabled_since else "?"
    return (
        f"fired {fired(row)}",
        f"enabled since {since}, last asked {ago(row.last_asked, now)}",
        f"p50/p95/p99 {times} ms, {percent(100 * row.share)} share of all hook time, "
        f"context {row.context_bytes:,} bytes",
        f"last canary: {canary}",
    )


def sort_rows(rows: Iterable[ModuleRow], by: Column, *, flipped: bool = False) -> list[ModuleRow]:
    """Rows in the column's own direction, or the other; equal ones by id."""
    ordered = sorted(rows, key=lambda row: row.id)
    return sorted(ordered, key=by.order, reverse=by.largest_first != flipped)


def filter_rows(rows: Iterable[ModuleRow], text: str) -> list[ModuleRow]:
    """Rows whose id, class, pack, events or verdict contain every word of ``text``, whatever its case."""
    words = text.lower().split()
    return [
        row
        for row in rows
        if all(
            word in f"{row.id} {row.cls} {row.pack} {' '.join(e for e, _ in row.events)} {row.verdict}".lower()
            for word in words
        )
    ]


def as_record(row: ModuleRow) -> dict[str, object]:
    """A row as JSON carries it; keys in the order of CSV."""
    return {key: value(row) for key, value in RECORD.items()}
