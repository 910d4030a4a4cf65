"""The hooks page: every module that is on and every hook that is none, what they did, the verdict, why, what to do."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from overdeck.errors import OverdeckError
from overdeck.incidents.text import shown
from overdeck.telemetry.advice import headline, why_keep
from overdeck.telemetry.columns import filter_rows
from overdeck.telemetry.keep import keep_file
from overdeck.telemetry.livefires import new_fires
from overdeck.telemetry.report import FireLine, ModuleRow, Report
from overdeck.telemetry.tail import Tail
from overdeck.telemetry.verdict import SUSPECTS
from overdeck.telemetry.words import parse_since
from overdeck.tui.actions import Action
from overdeck.tui.confirm import Confirm
from overdeck.tui.forms import Field, Form
from overdeck.tui.hooks import jobs
from overdeck.tui.hooks.acting import ACTIONS, here
from overdeck.tui.hooks.detail import Detail, beyond, facts, group_facts, incident_lines
from overdeck.tui.hooks.lines import HookTable, Line, columns
from overdeck.tui.hooks.tail import TailPane
from overdeck.tui.page import Page
from overdeck.tui.standing import Standing
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import RowTable

if TYPE_CHECKING:
    from overdeck.incidents.ofmodule import Related
    from overdeck.wiring.dossier import Dossier

WINDOWS = ("1h", "24h", "7d", "30d", "90d")
GROUPS = ("", "event", "plugin")
ONLY: dict[str, Sequence[str]] = {"": (), "suspects": SUSPECTS, "candidates": ("removal-candidate",)}
"""What ``z`` shows, in turn → its verdicts; none: all of them."""

SETTLE_S = 0.06
"""A row that the cursor only passes is not read: less than a person notices, more than a key repeats in."""
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
    class Known(Message):
        """What lies beyond the counts of one row, and its incidents or why they are not known."""

        id: str
        dossier: "Dossier | None" = None
        related: "Related | None" = None
        problem: OverdeckError | None = None
        final: bool = True

    @dataclass
    class Tailed(Message):
        """Fires that were logged since the last look."""

        fires: list[FireLine]
        tail: Tail
        problems: list[str]

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
        """What opening an incident of ``row`` will write."""

        row: ModuleRow
        about: str

    def __init__(self, around: Surroundings, *, alone: bool = False) -> None:
        super().__init__(around, alone=alone)
        self.found: Report | None = None
        self.related: Related | None = None
        self.registry_problem: OverdeckError | None = None
        self.running: set[str] = set()
        self._known: Dossier | None = None
        self._clipped = ("", "")  # a row's id, and what was copied while it was selected
        self._window = WINDOWS.index("7d")
        self._group, self._only = GROUPS[0], ""
        self._shown = 0
        self._tail: Tail | None = None
        self._following = self._looking = False

    def body(self) -> ComposeResult:
        yield Static("", markup=False, id="headline")
        yield HookTable(self.app.size.width)
        yield TailPane()
        yield Detail()

    def twin(self) -> str:
        since = WINDOWS[self._window]
        if self._only == "candidates":
            return "overdeck fires candidates --json"
        if self._only:
            return f"overdeck fires suspects --since {since} --json"
        return f"overdeck fires --since {since} --sort {self._rows.sorted_by.key} --json"

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
    def _rows(self) -> HookTable:
        return self.query_one(HookTable)

    @property
    def _since(self) -> timedelta:
        return parse_since(WINDOWS[self._window])

    # Reading.

    def load(self) -> None:
        self.standing = replace(self.standing, busy="reading the logs")
        self._load(first=self.found is None)
        self._follow()

    @work(thread=True, exclusive=True, group="report")
    def _load(self, *, first: bool) -> None:
        """One ingest tick and the report; at first what was published before, so that rows show at once."""
        worker = get_current_worker()
        try:
            if first and (before := jobs.read_published(self.around, self._since)):
                self.post_message(self.Loaded(before))
            loaded: Message = self.Loaded(jobs.read_current(self.around, self._since))
        except (OverdeckError, OSError) as error:
            loaded = self.Failed(jobs.trouble(error, self.around))
        if not worker.is_cancelled:
            self.post_message(loaded)

    @work(thread=True, exclusive=True, group="dossier")
    def _read_beyond(self, row: ModuleRow, found: Report) -> None:
        worker = get_current_worker()
        time.sleep(SETTLE_S)
        if worker.is_cancelled:
            return
        dossier, related, problem = None, None, None
        with suppress(OverdeckError, OSError):  # what keeps it from being read, the report says
            dossier = jobs.read_dossier(self.around, row)
            if not worker.is_cancelled:
                self.post_message(self.Known(row.id, dossier, final=False))
        try:
            related = jobs.read_related(self.around, row, found)
        except (OverdeckError, OSError) as error:
            problem = jobs.trouble(error, self.around)
        if not worker.is_cancelled:
            self.post_message(self.Known(row.id, dossier, related, problem))

    @work(thread=True, exclusive=True, group="tail")
    def _read_tail(self, before: Tail | None) -> None:
        self.post_message(self.Tailed(*new_fires(self.around.places, before)))

    @work(thread=True, group="action")
    def _do(self, job: Callable[[], str], running: str = "") -> None:
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

    @on(Known)
    def _take_known(self, message: Known) -> None:
        row = self.selected_row
        if row is None or row.id != message.id:
            return
        self._known = message.dossier or self._known
        if message.final:
            self.related, self.registry_problem = message.related, message.problem
            if self.found is not None:
                self._show_row(row, self.found)
        self._show_beyond()
        self.redraw()

    @on(Tailed)
    def _take_tail(self, message: Tailed) -> None:
        self._tail, self._looking = message.tail, False
        self.query_one(TailPane).add(message.fires)
        for problem in message.problems:
            self.say(problem, trouble=True)

    @on(Done)
    def _take_done(self, message: Done) -> None:
        self.running.discard(message.running)
        if message.error is not None:
            self.say(f"{message.error.message}. Next: {message.error.hint}", trouble=True)
        elif message.said:
            self.say(message.said, trouble="FAILS" in message.said)
        self.load()

    @on(ToCopy)
    def _take_copy(self, message: ToCopy) -> None:
        self.clip(message.what, message.text)

    def clip(self, what: str, text: str) -> None:
        """Shown in the pane, too: not every terminal has a clipboard."""
        super().clip(what, text)
        row = self.selected_row
        if row is not None and self.found is not None:
            self._clipped = (row.id, text)
            self._show_row(row, self.found)

    # Showing.

    def filtered(self, text: str) -> None:
        self._show_rows()

    def _show_rows(self, *, tell: bool = False) -> None:
        """``tell``: say so where the row below the cursor is gone."""
        if self.found is None:
            return
        wanted = ONLY[self._only]
        rows = [
            row
            for row in filter_rows(self.found.all_rows, self.filter_text)
            if not wanted or row.verdict in wanted
        ]
        before = self.selected_row
        self._rows.show_rows(rows, self._group, self.found.now)
        if tell and before is not None and all(row.id != before.id for row in rows):
            now = self.selected_row
            where = f"the cursor is on {now.id}" if now else "the cursor is on no row"
            self.say(f"{before.id} is not among the rows that are shown; {where}", trouble=True)
        self._shown = len(rows)
        self._show_facts(self._shown)

    def _show_facts(self, shown: int) -> None:
        assert self.found is not None
        modules, hooks = len(self.found.rows), len(self.found.hooks)
        facts = [
            f"{shown} of {modules + hooks}: {modules} modules, {hooks} un-adopted hooks",
            *([f"only {self._only}"] if self._only else []),
            f"last {WINDOWS[self._window]}",
            f"by {self._rows.sorted_by.title}",
            *([f"in groups by {self._group}"] if self._group else []),
            *(f"canary of {id} is running" for id in sorted(self.running)),
        ]
        self.standing = replace(self.standing, facts=facts)

    @on(RowTable.Picked)
    def _show_detail(self) -> None:
        line: Line | None = self._rows.selected
        row = line.row if line else None
        if row is None or self.found is None:
            self._known = self.related = None
            self.query_one(Detail).show(group_facts(line.group) if line else [])
            self.query_one(Detail).show_beyond([])
            return
        if self._known is None or self._known.id != row.id:
            self._known = self.related = None
            self.query_one(Detail).show_beyond([])
        self._show_row(row, self.found)
        self._read_beyond(row, self.found)

    def _show_row(self, row: ModuleRow, found: Report) -> None:
        first, after, *rest = facts(row, found.now)
        id, text = self._clipped
        copied = f"here: sent to the terminal's clipboard: {text}".splitlines() if id == row.id else []
        lines = self._at_home([first, after, *filter(None, [here(self)]), *rest])
        self.query_one(Detail).show([*lines[:2], *copied, *lines[2:]])

    def _show_beyond(self) -> None:
        lines = beyond(self._known) if self._known else []
        lines += incident_lines(self.related, self.registry_problem, self.around.clock())
        self.query_one(Detail).show_beyond(self._at_home(lines))

    def _at_home(self, lines: Sequence[str]) -> list[str]:
        """Paths as people write them: the part that is everybody's own is a tilde."""
        return [line.replace(str(self.around.places.home), "~") for line in lines]

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
        names = list(ONLY)
        self._only = names[(names.index(self._only) + 1) % len(names)]
        self._show_rows(tell=True)

    def do_clear_filter(self) -> None:
        """All rows again: also those that ``z`` hid."""
        self._only = ""
        super().do_clear_filter()
        self._show_rows()

    def do_group(self) -> None:
        self._group = GROUPS[(GROUPS.index(self._group) + 1) % len(GROUPS)]
        self._show_rows()

    def do_window(self) -> None:
        self._window = (self._window + 1) % len(WINDOWS)
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
        if self.query_one(TailPane).display and not self.paused and not self._looking:
            self._looking = True  # until its fires are shown: two looks from one place would tell them twice
            self._read_tail(self._tail)

    def do_canary(self) -> None:
        row = self.selected_row
        if row is not None:
            self.running.add(row.id)
            self._do(lambda: jobs.run_canary(self.around, row.id), row.id)
            self._show_rows()

    def do_keep(self) -> None:
        row = self.selected_row
        if row is None:
            return
        question = Field("because", why_keep(row), needed="a reason is needed")
        file = keep_file(self.around.places)
        about = f"its verdict is then exempt, with your reason and today's date; written to {file}"

        def answered(answer: dict[str, str] | None) -> None:
            if answer:
                self._do(lambda: jobs.keep_module(self.around, row.id, answer["because"]))

        self.app.push_screen(Form(f"Keep {row.id}", [question], about), answered)

    def do_let_go(self) -> None:
        row = self.selected_row
        if row is not None:
            self._do(lambda: jobs.let_go(self.around, row.id))

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
            self.post_message(self.ToAgree(row, jobs.proposal(self.around, row, found)))
        except (OverdeckError, OSError) as error:
            self.post_message(self.Done(error=jobs.trouble(error, self.around)))

    @on(ToAgree)
    def _ask(self, message: ToAgree) -> None:
        found = self.found

        def go_on(agreed: bool | None) -> None:
            if agreed and found is not None:
                self._do(lambda: jobs.open_incident(self.around, message.row, found))

        self.app.push_screen(Confirm(f"Open an incident of {message.row.id}", message.about), go_on)

    def do_incidents(self) -> None:
        if self.related is not None:
            slugs = self.related.classes or tuple(one.slug for one in self.related.about)
            self.post_message(self.Go("incidents", slugs[0]))
