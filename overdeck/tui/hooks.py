"""The hooks page: every module that is on, what it did, the verdict, and why."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.message import Message
from textual.worker import get_current_worker

from overdeck.errors import OverdeckError
from overdeck.telemetry.columns import COLUMNS, column, filter_rows
from overdeck.telemetry.ingest import up_to_date
from overdeck.telemetry.report import FireLine, ModuleRow, Report, last_fires, report
from overdeck.telemetry.store import reader
from overdeck.telemetry.words import span
from overdeck.tui.detail import Detail
from overdeck.tui.page import Page
from overdeck.tui.standing import Standing
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import RowTable

FIRES_SHOWN = 20
_LAST = ("class", "events", "why")
SHOWN = (
    *(column(key) for key in ("module", "verdict")),
    *(c for c in COLUMNS if c.key not in ("module", "verdict", *_LAST)),
    *(column(key) for key in _LAST),
)
"""The terminal's columns, ordered so that 80 characters show the verdict and the numbers behind it."""


class HooksPage(Page):
    """Reads in worker threads, which post messages; the page only shows what they bring."""

    PAGE = "hooks"
    HEADING = "Hooks"
    EVERY_S: ClassVar[float | None] = 10
    FILTER = "module, class, event or verdict"

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

    def __init__(self, around: Surroundings, *, alone: bool = False) -> None:
        super().__init__(around, alone=alone)
        self._report: Report | None = None

    def body(self) -> ComposeResult:
        yield RowTable[ModuleRow](SHOWN, lambda row: row.id, sort_by="verdict", id="modules")
        yield Detail()

    def twin(self) -> str:
        return f"overdeck fires --sort {self._rows.sorted_by.key} --json"

    def copied(self) -> tuple[str, str] | None:
        row = self._rows.selected
        return ("the module's name", row.id) if row else None

    @property
    def _rows(self) -> RowTable[ModuleRow]:
        return self.query_one("#modules", RowTable)

    def load(self) -> None:
        self.standing = replace(self.standing, busy="reading the logs")
        self._load(first=self._report is None)

    @work(thread=True, exclusive=True, group="report")
    def _load(self, *, first: bool) -> None:
        """One ingest tick and the report; at first what was published before, so that rows show at once."""
        worker = get_current_worker()
        places = self.around.places
        try:
            if first and places.published.exists():
                # A copy of another version, say, is made anew by the tick.
                with suppress(OverdeckError), reader(places) as published:
                    self.post_message(self.Loaded(report(places, published), [], final=False))
            with up_to_date(places) as (published, warnings):
                loaded: Message = self.Loaded(report(places, published), warnings, final=True)
        except OverdeckError as error:
            loaded = self.Failed(error)
        if not worker.is_cancelled:
            self.post_message(loaded)

    @work(thread=True, exclusive=True, group="fires")
    def _read_fires(self, module: str) -> None:
        worker = get_current_worker()
        try:
            fires = last_fires(self.around.places, module, FIRES_SHOWN)
        except OverdeckError:
            return
        if not worker.is_cancelled:
            self.post_message(self.FiresRead(module, fires))

    @on(Loaded)
    def _take_report(self, message: Loaded) -> None:
        self._report = found = message.report
        missing = ""
        if not found.rows:
            missing = "no module is switched on. Quit and type: overdeck hooks list --all"
        elif not found.logged:
            missing = (
                "no hook has logged anything. Quit and type: overdeck install; where that was done, use the client"
            )
        self.standing = Standing(
            busy="" if message.final else "reading the logs",
            as_of=found.as_of,
            missing=missing,
            warnings=[*message.warnings, *found.warnings] if message.final else (),
        )
        self.filtered(self.filter_text)

    @on(Failed)
    def _take_error(self, message: Failed) -> None:
        self.standing = replace(self.standing, busy="", error=message.error)

    @on(FiresRead)
    def _take_fires(self, message: FiresRead) -> None:
        if message.module == self._rows.selected_key:
            self.query_one(Detail).show_fires(message.fires)

    @on(RowTable.Picked)
    def _show_detail(self) -> None:
        row = self._rows.selected
        self.query_one(Detail).show(row, self.around.clock())
        if row:
            self._read_fires(row.id)

    @on(RowTable.Sorted)
    def _show_order(self) -> None:
        self._show_facts()

    def filtered(self, text: str) -> None:
        if self._report is not None:
            self._rows.show(filter_rows(self._report.rows, text), self._report.now)
            self._show_facts()

    def _show_facts(self) -> None:
        found = self._report
        if found is not None:
            facts = (
                f"{self._rows.row_count} of {len(found.rows)} modules",
                f"last {span(found.since)}",
                f"by {self._rows.sorted_by.title}",
            )
            self.standing = replace(self.standing, facts=facts)
