"""The hooks page: every module that is on and every hook that is none, what they did, the verdict, why, what to do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from overdeck.errors import OverdeckError
from overdeck.incidents.text import shown
from overdeck.telemetry.advice import headline
from overdeck.telemetry.report import ModuleRow, Report
from overdeck.tui.actions import Action
from overdeck.tui.hooks import asking, jobs
from overdeck.tui.hooks.acting import ACTIONS, here
from overdeck.tui.hooks.lines import HookTable, columns
from overdeck.tui.hooks.pane import Detail
from overdeck.tui.hooks.tail import TailPane
from overdeck.tui.hooks.view import View
from overdeck.tui.page import Page
from overdeck.tui.standing import Standing
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import RowTable

if TYPE_CHECKING:
    from overdeck.incidents.ofmodule import Proposal

TAIL_EVERY_S = 0.5
SHORT = 36
"""Lines below which table, tail and detail share what there is."""


class HooksPage(Page):
    """Reads in worker threads, which post messages; the page only shows what they bring."""

    PAGE = "hooks"
    HEADING = "Hooks"
    EVERY_S: ClassVar[float | None] = 10
    FILTER = "part of a name, class, event, verdict, plugin or client"
    OWN: ClassVar[tuple[Action, ...]] = ACTIONS

    DEFAULT_CSS = """
    HooksPage #headline { height: 1; padding: 0 1; text-style: bold; }
    HooksPage.-short.-tailing Detail { height: 6; }
    HooksPage.-short TailPane { height: 5; }
    """

    @dataclass
    class Loaded(Message):
        read: jobs.Read

    @dataclass
    class Failed(Message):
        """The report could not be made."""

        error: OverdeckError

    @dataclass
    class Done(Message):
        """An action ended: ``said``, or what went wrong. ``running`` is the module whose canary it was."""

        said: str = ""
        error: OverdeckError | None = None
        running: str = ""

    @dataclass
    class ToCopy(Message):
        text: str
        what: str

    @dataclass
    class ToAgree(Message):
        """What may be opened of ``row``."""

        row: ModuleRow
        proposals: "Sequence[Proposal]"

    def __init__(self, around: Surroundings, *, alone: bool = False) -> None:
        super().__init__(around, alone=alone)
        self.found: Report | None = None
        self.running: set[str] = set()
        self._view = View()
        self._shown = 0
        self._following = False

    def body(self) -> ComposeResult:
        yield Static("", markup=False, id="headline")
        yield HookTable(self.app.size.width)
        yield TailPane(self.around)
        yield Detail(self.around, lambda: here(self))

    def twin(self) -> str:
        return self._view.twin(self._rows.sorted_by.key)

    def copied(self) -> tuple[str, str] | None:
        row = self.selected_row
        if row is None:
            return None
        return ("the module's name", row.id) if row.adopted else ("the hook's command line", row.command)

    @property
    def selected_row(self) -> ModuleRow | None:
        """The module or hook below the cursor; None on a heading."""
        line = self._rows.selected if self.is_mounted else None
        return line.row if line else None

    @property
    def detail(self) -> Detail:
        """The pane, and what it knows of the selected row's incidents."""
        return self.query_one(Detail)

    @property
    def _rows(self) -> HookTable:
        return self.query_one(HookTable)

    # Reading.

    def load(self) -> None:
        self.standing = replace(self.standing, busy="reading the logs")
        self._load(self._view, first=self.found is None)
        self._follow()

    @work(thread=True, exclusive=True, group="report")
    def _load(self, view: View, *, first: bool) -> None:
        """One ingest tick and the report; at first what was published before, so that rows show at once."""
        worker = get_current_worker()
        try:
            if first and (before := jobs.read_published(self.around, view.since)):
                self.post_message(self.Loaded(before))
            loaded: Message = self.Loaded(jobs.read_current(self.around, view.since))
        except (OverdeckError, OSError) as error:
            loaded = self.Failed(jobs.trouble(error, self.around))
        if not worker.is_cancelled:
            self.post_message(loaded)

    @work(thread=True, group="action")
    def start(self, job: Callable[[], str], running: str = "") -> None:
        """Run a job of ``jobs`` and say what it gave; ``running`` is the module whose canary it runs."""
        try:
            done = self.Done(job(), running=running)
        except (OverdeckError, OSError) as error:
            done = self.Done(error=jobs.trouble(error, self.around), running=running)
        self.post_message(done)

    @on(Loaded)
    def _take_report(self, message: Loaded) -> None:
        read = message.read
        self.found = found = read.report
        missing = ""
        if not found.all_rows:
            missing = (
                "no module is switched on and no hook is configured. Quit and type: overdeck hooks list --all"
            )
        elif not found.logged:
            missing = (
                "no hook has logged anything. Quit and type: overdeck install; where that was done, use the client"
            )
        self.standing = Standing(
            busy="" if read.final else "reading the logs",
            as_of=found.as_of,
            locked="another process is ingesting" if read.locked else "",
            missing=missing,
            warnings=read.warnings,
        )
        self.query_one("#headline", Static).update(shown(" · ".join(headline(found))))
        self._show_rows(tell=True)

    @on(Failed)
    def _take_error(self, message: Failed) -> None:
        self.standing = replace(self.standing, busy="", error=message.error)

    @on(TailPane.Troubled)
    def _tell_trouble(self, message: TailPane.Troubled) -> None:
        for problem in message.problems:
            self.fail(problem)

    @on(Done)
    def _take_done(self, message: Done) -> None:
        self.running.discard(message.running)
        if message.error is not None:
            self.fail(f"{message.error.message}. Next: {message.error.hint}")
        elif message.said:
            self.say(message.said, trouble="FAILS" in message.said)
        self.load()

    @on(ToCopy)
    def _take_copy(self, message: ToCopy) -> None:
        self.clip(message.what, message.text)

    def clip(self, what: str, text: str) -> None:
        """Shown in the pane, too: not every terminal has a clipboard."""
        super().clip(what, text)
        self.detail.clipped(text)

    # Showing.

    def filtered(self, text: str) -> None:
        self._show_rows()

    def _show_rows(self, *, tell: bool = False) -> None:
        """``tell``: say so where the row below the cursor is gone."""
        if self.found is None:
            return
        rows = self._view.rows(self.found, self.filter_text)
        before = self.selected_row
        self._rows.show_rows(
            rows, self._view.group, self.found.now, self._view.nothing(self.found, self.filter_text)
        )
        if tell and before is not None and all(row.id != before.id for row in rows):
            now = self.selected_row
            where = f"the cursor is on {now.id}" if now else "the cursor is on no row"
            self.say(f"{before.id} is not among the rows that are shown; {where}", trouble=True)
        self._shown = len(rows)
        self._show_facts(self._shown)

    def _show_facts(self, shown: int) -> None:
        assert self.found is not None
        facts = self._view.facts(self.found, shown, self._rows.sorted_by.title)
        facts += [f"canary of {id} is running" for id in sorted(self.running)]
        self.standing = replace(self.standing, facts=facts)

    @on(RowTable.Picked)
    def _show_detail(self) -> None:
        self.detail.tell(self._rows.selected, self.found)

    @on(Detail.Learned)
    def _show_keys(self) -> None:
        self.redraw()

    @on(RowTable.Sorted)
    def _show_order(self) -> None:
        if self.found is not None:
            self._show_facts(self._shown)

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self.set_class(event.size.height < SHORT, "-short")
        if self.found is not None:
            self._rows.set_columns(columns(event.size.width))
            self._show_rows()

    # Acting.

    def do_only(self) -> None:
        self._view = self._view.next_only()
        self._show_rows(tell=True)

    def do_clear_filter(self) -> None:
        """All rows again: also those that ``z`` hid."""
        self._view = replace(self._view, only="")
        super().do_clear_filter()
        self._show_rows()

    def do_group(self) -> None:
        self._view = self._view.next_group()
        self._show_rows()

    def do_window(self) -> None:
        self._view = self._view.next_window()
        self.load()

    def do_tail(self) -> None:
        pane = self.query_one(TailPane)
        pane.display = not pane.display
        self.set_class(pane.display, "-tailing")
        if not self._following and self.around.live:
            self.set_interval(TAIL_EVERY_S, self._follow)
        self._following = True
        self._follow()

    def _follow(self) -> None:
        """Read on in the fires log, while somebody looks."""
        if not self.paused:
            self.query_one(TailPane).follow()

    def do_canary(self) -> None:
        row = self.selected_row
        if row is not None:
            self.running.add(row.id)
            self.start(lambda: jobs.run_canary(self.around, row.id), row.id)
            self._show_rows()

    def do_keep(self) -> None:
        row = self.selected_row
        if row is not None:
            asking.keep(self, row)

    def do_let_go(self) -> None:
        row = self.selected_row
        if row is not None:
            self.start(lambda: jobs.let_go(self.around, row.id))

    def do_removal(self) -> None:
        row = self.selected_row
        if row is not None:
            self._find_removal(row)

    @work(thread=True, exclusive=True, group="removal")
    def _find_removal(self, row: ModuleRow) -> None:
        try:
            self.post_message(self.ToCopy(*jobs.removal_text(self.around, row)))
        except (OverdeckError, OSError) as error:
            self.post_message(self.Done(error=jobs.trouble(error, self.around)))

    def do_incident(self) -> None:
        row = self.selected_row
        if row is not None and self.found is not None:
            self._propose(row, self.found)

    @work(thread=True, exclusive=True, group="proposal")
    def _propose(self, row: ModuleRow, found: Report) -> None:
        try:
            self.post_message(self.ToAgree(row, jobs.proposals(self.around, row, found)))
        except (OverdeckError, OSError) as error:
            self.post_message(self.Done(error=jobs.trouble(error, self.around)))

    @on(ToAgree)
    def _ask(self, message: ToAgree) -> None:
        if self.found is not None:
            asking.open_incidents(self, message.row, self.found, message.proposals)

    def do_incidents(self) -> None:
        if (related := self.detail.related) is not None:
            slugs = related.classes or tuple(one.slug for one in related.about)
            self.post_message(self.Go("incidents", slugs[0]))
