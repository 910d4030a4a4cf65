"""The hooks page: every module that is on, what it did, the verdict, and why."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Input, Static
from textual.worker import get_current_worker

from overdeck.errors import OverdeckError
from overdeck.paths import Places
from overdeck.telemetry.columns import COLUMNS, Column, column, filter_rows, sort_rows
from overdeck.telemetry.ingest import up_to_date
from overdeck.telemetry.report import FireLine, ModuleRow, Report, last_fires, report
from overdeck.telemetry.store import reader
from overdeck.telemetry.words import span
from overdeck.tui.detail import Detail
from overdeck.tui.help import Help

FIRES_SHOWN = 20
_LAST = ("class", "events", "why")
SHOWN = (
    *(column(key) for key in ("module", "verdict")),
    *(c for c in COLUMNS if c.key not in ("module", "verdict", *_LAST)),
    *(column(key) for key in _LAST),
)
"""The terminal's columns, ordered so that 80 characters show the verdict and the numbers behind it."""


class HooksPage(Screen[None]):
    """Reads in worker threads, which post messages; the page only shows what they bring."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+c", "app.quit", "Quit", tooltip="Leave overdeck"),
        Binding("question_mark", "help", "Help", tooltip="Show these keys"),
        Binding("slash", "filter", "Filter", tooltip="Show only rows that contain what you type; enter keeps it"),
        Binding("escape", "clear_filter", "Clear", show=False, tooltip="Show all rows again"),
        Binding("s", "next_sort", "Sort", tooltip="Sort by the next column; a click on a header sorts by it"),
        Binding("S", "flip_sort", "Flip", tooltip="Sort the other way round"),
        Binding("r", "refresh", "Refresh", tooltip="Take in what the logs gained"),
    ]

    DEFAULT_CSS = """
    HooksPage #status { height: 1; padding: 0 1; background: $panel; }
    HooksPage #notice { height: auto; max-height: 4; padding: 0 1; color: $warning; display: none; }
    HooksPage #filter { height: 3; display: none; }
    HooksPage DataTable { height: 1fr; }
    """

    @dataclass
    class Loaded(Message):
        """A report, and what the reader should know. ``final``: after the ingest tick."""

        report: Report
        warnings: list[str]
        final: bool

    @dataclass
    class Failed(Message):
        """The report could not be made."""

        error: OverdeckError

    @dataclass
    class FiresRead(Message):
        """The last fires of one module."""

        module: str
        fires: Sequence[FireLine]

    def __init__(self, places: Places) -> None:
        super().__init__()
        self._places = places
        self._report: Report | None = None
        self._rows: dict[str, ModuleRow] = {}
        self._sorted_by: Column = column("verdict")
        self._flipped = False

    def compose(self) -> ComposeResult:
        yield Static("reading the logs …", markup=False, id="status")
        yield Static("", markup=False, id="notice")
        yield Input(placeholder="module, class, event or verdict", id="filter")
        yield DataTable[Text](cursor_type="row", zebra_stripes=True, id="modules")
        yield Detail()
        yield Footer()

    def on_mount(self) -> None:
        self._table.focus()
        self.set_interval(1, self._show_status)
        self._load(first=True)

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one("#modules", DataTable)

    @work(thread=True, exclusive=True, group="report")
    def _load(self, *, first: bool = False) -> None:
        """One ingest tick and the report; at first what was published before, so that rows show at once."""
        worker = get_current_worker()
        try:
            if first and self._places.published.exists():
                # A copy of another version, say, is made anew by the tick.
                with suppress(OverdeckError), reader(self._places) as published:
                    self.post_message(self.Loaded(report(self._places, published), [], final=False))
            with up_to_date(self._places) as (published, warnings):
                loaded: Message = self.Loaded(report(self._places, published), warnings, final=True)
        except OverdeckError as error:
            loaded = self.Failed(error)
        if not worker.is_cancelled:
            self.post_message(loaded)

    @work(thread=True, exclusive=True, group="fires")
    def _read_fires(self, module: str) -> None:
        worker = get_current_worker()
        try:
            fires = last_fires(self._places, module, FIRES_SHOWN)
        except OverdeckError:
            return
        if not worker.is_cancelled:
            self.post_message(self.FiresRead(module, fires))

    @on(Loaded)
    def _take_report(self, message: Loaded) -> None:
        self._report = message.report
        known = dict.fromkeys([*message.warnings, *message.report.warnings])
        lines = [f"warning: {warning}" for warning in known]
        if not message.report.logged:
            lines.insert(
                0,
                "No hook has logged anything yet. Quit and type: overdeck install; where that was done, use the client",
            )
        if not message.report.rows:
            lines.insert(0, "No module is switched on. Quit and type: overdeck hooks list --all")
        self._notice(lines if message.final or not message.report.logged else [])
        self._show_rows()

    @on(Failed)
    def _take_error(self, message: Failed) -> None:
        self._notice([f"error: {message.error.message}", f"next: {message.error.hint}"])
        self._show_status()

    @on(FiresRead)
    def _take_fires(self, message: FiresRead) -> None:
        if message.module == self._selected:
            self.query_one(Detail).show_fires(message.fires)

    @on(DataTable.RowHighlighted)
    def _select(self, message: DataTable.RowHighlighted) -> None:
        id = message.row_key.value if message.row_key else None
        self._show_detail(id)

    @on(DataTable.HeaderSelected)
    def _sort_by_header(self, message: DataTable.HeaderSelected) -> None:
        chosen = column(str(message.column_key.value))
        self._flipped = chosen == self._sorted_by and not self._flipped
        self._sorted_by = chosen
        self._show_rows()

    @on(Input.Changed, "#filter")
    def _filter_as_typed(self) -> None:
        self._show_rows()

    @on(Input.Submitted, "#filter")
    def _keep_filter(self) -> None:
        self._table.focus()

    def action_help(self) -> None:
        self.app.push_screen(Help("Hooks", [b for b in self.BINDINGS if isinstance(b, Binding)]))

    def action_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.display = True
        box.focus()

    def action_clear_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.value = ""
        box.display = False
        self._table.focus()
        self._show_rows()

    def action_next_sort(self) -> None:
        self._sorted_by = SHOWN[(SHOWN.index(self._sorted_by) + 1) % len(SHOWN)]
        self._flipped = False
        self._show_rows()

    def action_flip_sort(self) -> None:
        self._flipped = not self._flipped
        self._show_rows()

    def action_refresh(self) -> None:
        self.query_one("#status", Static).update("reading the logs …")
        self._load()

    @property
    def _selected(self) -> str | None:
        table = self._table
        if not table.is_valid_row_index(table.cursor_row):
            return None
        return table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value

    def _show_rows(self) -> None:
        """Fill the table anew, the cursor on the module it was on."""
        if self._report is None:
            return
        before = self._selected
        wanted = filter_rows(self._report.rows, self.query_one("#filter", Input).value)
        rows = sort_rows(wanted, self._sorted_by, flipped=self._flipped)
        self._rows = {row.id: row for row in rows}
        table = self._table
        table.clear(columns=True)
        down = self._sorted_by.largest_first != self._flipped
        for shown in SHOWN:
            mark = (" ▼" if down else " ▲") if shown == self._sorted_by else ""
            table.add_column(Text(shown.title + mark), key=shown.key)
        for row in rows:
            cells = (
                Text(shown.text(row, self._report.now), justify="right" if shown.right else "left")
                for shown in SHOWN
            )
            table.add_row(*cells, key=row.id)
        if before in self._rows:
            table.move_cursor(row=table.get_row_index(before))
        self._show_detail(self._selected)
        self._show_status()

    def _show_detail(self, id: str | None) -> None:
        row = self._rows.get(id or "")
        self.query_one(Detail).show(row, self._report.now if self._report else datetime.now(UTC))
        if row:
            self._read_fires(row.id)

    def _show_status(self) -> None:
        found = self._report
        if found is None:
            return
        age = span(datetime.now(UTC) - found.as_of)
        parts = [
            f"{len(self._rows)} of {len(found.rows)} modules",
            f"last {span(found.since)}",
            f"data {age} old",
            f"by {self._sorted_by.title}",
        ]
        self.query_one("#status", Static).update(" · ".join(parts))

    def _notice(self, lines: list[str]) -> None:
        notice = self.query_one("#notice", Static)
        notice.update("\n".join(lines))
        notice.display = bool(lines)
