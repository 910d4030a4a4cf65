"""The bench page: the last measurements, their ratios as intervals on one axis, and how each scenario went."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from overdeck.bench import runtables
from overdeck.bench.lastruns import Cache, LastRun, last_runs
from overdeck.bench.outcome import METRICS, Metric
from overdeck.bench.runtables import RunRow
from overdeck.errors import OverdeckError, unusable
from overdeck.tui.actions import Action
from overdeck.tui.page import Page
from overdeck.tui.standing import Standing
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import RowTable
from overdeck.tui.typable import typable

_OTHER_COLUMNS = 61
"""Cells that the columns besides the axis take, as far as the verdict."""
_AXIS = (19, 81)
"""The narrowest and the widest axis, in cells."""


class BenchPage(Page):
    """Reads the records of the cache again when they change; a measurement that runs is one of them."""

    PAGE = "bench"
    HEADING = "Bench"
    EVERY_S = 5.0
    FILTER = "arms, verdict, state or file; #2 is scenario 2"
    OWN: ClassVar[tuple[Action, ...]] = (
        Action("metric", "m", "CPU or wall", "Show ratios of the other metric: CPU time, or what a client waits"),
        Action("zoom", "z", "Zoom", "Draw the axis close to 1.0, or so that everything is on it"),
        Action(
            "scenario",
            "f",
            "Scenario",
            "Show only measurements of the selected scenario; esc shows all again",
            lambda page: page.no_scenario,
        ),
    )

    DEFAULT_CSS = """
    BenchPage #axis { height: auto; padding: 0 1; color: $text-muted; }
    BenchPage VerticalScroll { height: 10; border-top: solid $primary; padding: 0 1; }
    """

    @dataclass
    class Read(Message):
        """The records, and what the next reading may be given; None: so far, there are more."""

        runs: Sequence[LastRun]
        known: Cache | None

    @dataclass
    class Failed(Message):
        """Their folder could not be read."""

        error: OverdeckError

    def __init__(self, around: Surroundings, *, alone: bool = False) -> None:
        super().__init__(around, alone=alone)
        self._known: Cache = {}
        self._runs: Sequence[LastRun] | None = None
        self._metric: Metric = METRICS[0]
        self._near = False
        self._reading = False
        self._as_of = around.clock()

    def body(self) -> ComposeResult:
        on = runtables.row_axis([], self._metric, width=_AXIS[0])
        yield RowTable[RunRow](
            runtables.columns(on, self._metric),
            lambda row: row.id,
            sort_by="started",
            id="runs",
            max_width=_AXIS[1],
        )
        yield Static("", markup=False, id="axis")
        with VerticalScroll(can_focus=True):
            yield Static("", markup=False, id="details")

    def load(self) -> None:
        if not self._reading:  # a slow reading must not be begun again and again before it ends
            self._reading = True
            self._read(self._known)

    def twin(self) -> str:
        return "hookbench report --json"

    @work(thread=True, exclusive=True, group="records")
    def _read(self, known: Cache) -> None:
        worker = get_current_worker()

        def so_far(runs: list[LastRun]) -> None:
            if not known and not worker.is_cancelled:
                self.post_message(self.Read(runs, None))

        try:
            message: Message = self.Read(*last_runs(self.around.places.cache, known, progress=so_far))
        except OverdeckError as error:
            message = self.Failed(error)
        except OSError as error:
            refused = unusable(error)
            if refused is None:
                raise
            message = self.Failed(refused)
        if not worker.is_cancelled:
            self.post_message(message)

    @on(Read)
    def _take_runs(self, message: Read) -> None:
        self._runs = message.runs
        if message.known is not None:
            self._known, self._reading = message.known, False
        self._as_of = self.around.clock()
        self._show()

    @on(Failed)
    def _take_error(self, message: Failed) -> None:
        self._reading = False
        self.standing = Standing(error=message.error)

    @on(RowTable.Picked)
    def _show_details(self) -> None:
        row = self._table_of_runs.selected
        self.query_one("#details", Static).update("" if row is None else "\n".join(runtables.details(row)))

    def on_resize(self, _event: Resize) -> None:
        self._show()

    def filtered(self, text: str) -> None:
        self._show()

    def copied(self) -> tuple[str, str] | None:
        row = self._table_of_runs.selected
        if row is None:
            return None
        return "the command that says all of it", typable(row.run.report, self.around.folder)

    @property
    def _table_of_runs(self) -> RowTable[RunRow]:
        return self.query_one("#runs", RowTable)

    def _show(self) -> None:
        if self._runs is None:
            return
        rows = runtables.run_rows(self._runs, self._metric)
        wanted = runtables.filter_rows(rows, self.filter_text)
        width = min(max(self.app.size.width - _OTHER_COLUMNS, _AXIS[0]), _AXIS[1])
        axis = runtables.row_axis(wanted, self._metric, width=width, near=self._near)
        table = self._table_of_runs
        table.set_columns(runtables.columns(axis, self._metric))
        nothing = f"none fits {self.filter_text!r}; esc shows all {len(rows)}" if rows else ""
        table.show(wanted, self._as_of, nothing)
        self.query_one("#axis", Static).update(runtables.axis_line(axis))
        facts = [f"{len(wanted)} of {len(rows)} comparisons", runtables.metric_said(self._metric)]
        if self._near:
            facts.append("close to 1.0")
        missing = "" if rows else runtables.NO_RUNS
        self.standing = Standing(
            busy="reading older records" if self._reading else "",
            as_of=self._as_of,
            missing=missing,
            facts=facts if rows else [],
        )

    @property
    def no_scenario(self) -> str | None:
        row = self._table_of_runs.selected if self.is_mounted else None
        if row is None:
            return "no measurement is selected"
        return None if row.scenario else "this record cannot be read"

    def do_metric(self) -> None:
        self._metric = METRICS[(METRICS.index(self._metric) + 1) % len(METRICS)]
        self._show()

    def do_zoom(self) -> None:
        self._near = not self._near
        self._show()

    def do_scenario(self) -> None:
        row = self._table_of_runs.selected
        if row is not None:
            self.arrive(f"#{row.scenario}")
