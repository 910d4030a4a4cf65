"""The lines of the hooks table: modules and hooks, in groups or not. What they say is the report's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from overdeck.column import Column
from overdeck.incidents.text import shown
from overdeck.telemetry.columns import DAILY, DAILY_NARROW, column
from overdeck.telemetry.grouping import Group, grouped
from overdeck.telemetry.report import ModuleRow
from overdeck.telemetry.words import percent
from overdeck.tui.table import RowTable

WIDE = 120
"""Cells from which the days have a bar each."""

_FIRST = ("module", "verdict", "share", "fired")
_REST = (
    "asked", "last-fire", "errors", "timeouts", "p50-ms", "p95-ms", "context-bytes", "canary", "class", "events",
    "source", "why",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A row of the report, or the heading of a group (``row`` None)."""

    group: Group
    row: ModuleRow | None

    @property
    def key(self) -> str:
        """Rows without groups are called by their id."""
        if self.row is None:
            return f"[{self.group.name}]"
        return f"{self.group.name}/{self.row.id}" if self.group.name else self.row.id


def lines(rows: Iterable[ModuleRow], by: str) -> list[Line]:
    """One line a row, in every group it belongs to, and one a group; no headings where ``by`` is empty."""
    found = []
    for group in grouped(rows, by):
        if group.name:
            found.append(Line(group, None))
        found += [Line(group, row) for row in group.rows]
    return found


def columns(width: int) -> list[Column[Line]]:
    """Ordered so that 80 cells show what costs most, what never fires, and what was made of it."""
    daily = DAILY if width >= WIDE else DAILY_NARROW
    return [_of_line(one) for one in (*map(column, _FIRST), daily, *map(column, _REST))]


def _of_line(one: Column[ModuleRow]) -> Column[Line]:
    def text(line: Line, now: datetime) -> str:
        if line.row is None:
            return shown(_heading(line.group, one.key))
        name = shown(one.text(line.row, now))
        return f"  {name}" if one.key == "module" and line.group.name else name

    return Column(
        one.key,
        one.title,
        text,
        lambda line: one.order(line.row or line.group.rows[0]),
        one.right,
        one.largest_first,
    )


def _heading(group: Group, key: str) -> str:
    """What a group's heading says in a column."""
    if key == "module":
        return f"{group.name} ({len(group.rows)})"
    if key == "fired":
        return f"{group.fired:,}"
    return percent(100 * group.share) if key == "share" else ""


class HookTable(RowTable[Line]):
    """Sorts within groups; a heading stands above its own."""

    def __init__(self, width: int) -> None:
        super().__init__(columns(width), lambda line: line.key, sort_by="verdict", id="modules", max_width=44)

    def in_trouble(self, column: str, text: str) -> bool:
        return column == "verdict" and text in ("broken", "dead")

    def _ordered(self) -> list[tuple[str, Line]]:
        return sorted(super()._ordered(), key=lambda item: (item[1].group.name, item[1].row is not None))

    def show_rows(self, rows: Sequence[ModuleRow], by: str, now: datetime, nothing: str = "") -> None:
        """Show them grouped ``by``; the cursor stays on the module it is on, in whatever group that stands first."""
        before = self.selected.row if self.selected else None
        found = lines(rows, by)
        self.show(found, now, nothing)
        at = next((line for line in found if before and line.row and line.row.id == before.id), None)
        if at and before and self.selected and (self.selected.row is None or self.selected.row.id != before.id):
            self.select(at.key)
        elif self.selected and self.selected.row is None and before is None and len(found) > 1:
            self.move_cursor(row=1, animate=False)  # past the first heading: a row is what has details
