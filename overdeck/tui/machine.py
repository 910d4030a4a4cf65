"""The machine page: what it withholds from hooks, what each event costs now, and which hooks' processes are alive."""

from dataclasses import dataclass

from textual import on, work
from textual.app import ComposeResult
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from overdeck.errors import OverdeckError
from overdeck.machine.changes import Change
from overdeck.machine.hookprocesses import HookProcess
from overdeck.telemetry.livecalls import EventCost
from overdeck.tui.actions import Action
from overdeck.tui.page import Page
from overdeck.tui.standing import Standing
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import RowTable
from overdeck.wiring.atwork import tables
from overdeck.wiring.atwork.look import Before, Look, Source, begin, look

_OTHER_LINES = 24
"""Of the screen, besides the tables: what is said, each of it in two lines, the frame, the keys."""


class MachinePage(Page):
    """Looks again every two seconds; each look is measured against the one before."""

    PAGE = "machine"
    HEADING = "Machine"
    EVERY_S = 2.0
    FILTER = "hook, command, parent, client or number of a process"
    OWN = (
        Action(
            "only_orphans",
            "o",
            "Orphans",
            "Show only processes of hooks that no client waits for, or all again",
            lambda page: page.no_orphans,
        ),
        Action(
            "copy_kill",
            "k",
            "Copy kill",
            "Copy the command that ends the selected orphan; nothing is ended here",
            lambda page: page.no_orphan_selected,
        ),
    )

    DEFAULT_CSS = """
    MachinePage Static.line { height: auto; padding: 0 1; }
    MachinePage #verdict { text-style: bold; max-height: 4; }
    MachinePage #verdict.strained { color: $error; }
    MachinePage #unsaid { color: $text-muted; }
    MachinePage #changes { height: auto; max-height: 30%; }
    MachinePage #events { height: auto; max-height: 30%; }
    MachinePage #hooks { height: 1fr; min-height: 3; }
    MachinePage #rest { height: 1fr; display: none; }
    MachinePage.-roomy #hooks, MachinePage.-roomy #events, MachinePage.-roomy #changes {
        height: auto; max-height: 100%; min-height: 1;
    }
    MachinePage RowTable.-empty { display: none; }
    MachinePage.-roomy #rest { display: block; }
    """

    @dataclass
    class Looked(Message):
        """One look, and what the next one is to be given."""

        found: Look
        before: Before

    @dataclass
    class Failed(Message):
        """There is nothing to look at."""

        error: OverdeckError

    def __init__(self, around: Surroundings, *, alone: bool = False) -> None:
        super().__init__(around, alone=alone)
        self._before: Before | None = None
        self._found: Look | None = None
        self._only_orphans = False
        self._looking = False
        self._rows = 0
        self._filled = list(tables.CHANGES)

    def body(self) -> ComposeResult:
        yield Static("", markup=False, id="verdict", classes="line")
        yield Static("", markup=False, id="hooks-line", classes="line")
        yield RowTable[HookProcess](
            tables.HOOKS, lambda one: str(one.process.pid), sort_by="state", id="hooks", max_width=30
        )
        yield Static("", markup=False, id="calls-line", classes="line")
        yield RowTable[EventCost](tables.EVENTS, lambda one: one.event, sort_by="ms per s", id="events")
        yield Static("", markup=False, id="machine-line", classes="line")
        yield RowTable[Change](tables.CHANGES, lambda one: one.place, sort_by="place", id="changes", max_width=40)
        yield Static("", markup=False, id="unsaid", classes="line")
        yield Static("", id="rest")

    def load(self) -> None:
        if not self._looking:  # a slow look must not be begun again and again before it ends
            self._looking = True
            self._look(self._before)

    def do_refresh(self) -> None:
        """The settings too: hooks that were wired meanwhile are known then."""
        self._looking = True
        self._look(self._before, again=True)

    def twin(self) -> str:
        return "overdeck machine --json"

    @work(thread=True, exclusive=True, group="look")
    def _look(self, before: Before | None, *, again: bool = False) -> None:
        worker = get_current_worker()
        try:
            source = self.around.machine or Source(self.around.places, self.around.cwd, now=self.around.clock)
            message: Message = self.Looked(*look(source, begin(source, before) if again or not before else before))
        except OverdeckError as error:
            message = self.Failed(error)
        if not worker.is_cancelled:
            self.post_message(message)

    @on(Looked)
    def _take_look(self, message: Looked) -> None:
        self._looking, self._before, self._found = False, message.before, message.found
        self._show()

    @on(Failed)
    def _take_error(self, message: Failed) -> None:
        self._looking = False
        self.standing = Standing(error=message.error)

    def filtered(self, text: str) -> None:
        self._show()

    def copied(self) -> tuple[str, str] | None:
        hook = self._hooks.selected
        if hook is None or self._found is None:
            return None
        return f"process {hook.process.pid}", tables.hook_details(hook, self._found.at)

    @property
    def _hooks(self) -> RowTable[HookProcess]:
        return self.query_one("#hooks", RowTable)

    def _show(self) -> None:
        found = self._found
        if found is None:
            return
        self._only_orphans = self._only_orphans and bool(found.orphans)
        hooks = tables.filter_hooks(found.hooks, self.filter_text, orphans=self._only_orphans)
        nothing = f"none fits {self.filter_text!r}; esc shows all {len(found.hooks)}" if found.hooks else ""
        self._hooks.show(hooks, found.at, nothing)
        changes, filled = tables.said(found.changes if found.watched else (), found.at)
        if filled != self._filled:
            self._filled = filled
            self.query_one("#changes", RowTable).set_columns(filled)
        for id, rows in (("events", found.calls.events), ("changes", changes)):
            table = self.query_one(f"#{id}", RowTable)
            table.show(rows, found.at)
            table.set_class(not rows, "-empty")
        self._rows = len(hooks) + len(found.calls.events) + len(changes)
        self._share_lines()
        logged = found.calls.last is not None
        calls = (tables.calls_line(found), tables.history_line(found)) if logged else ("no call yet",)
        self.query_one("#verdict").set_class(found.verdict.state == "strained", "strained")
        texts = {
            "verdict": tables.verdict_line(found),
            "hooks-line": tables.hooks_line(found),
            "calls-line": "\n".join(calls),
            "machine-line": tables.machine_line(found),
            "unsaid": "\n".join(tables.unsaid_lines(found)),
        }
        for id, text in texts.items():
            self.query_one(f"#{id}", Static).update(text)
        self.standing = Standing(
            as_of=found.at,
            missing="" if logged else tables.NO_CALLS,
            warnings=found.problems,
            facts=self._facts(found, len(hooks)),
        )

    def _share_lines(self) -> None:
        """Where all rows fit, a table is as long as it has rows, and what is left over stands at the end."""
        needed = self._rows + len(self.query(RowTable)) + _OTHER_LINES
        self.set_class(needed <= self.size.height, "-roomy")

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self._share_lines()

    def _facts(self, found: Look, shown: int) -> list[str]:
        facts = [f"{shown} of {len(found.hooks)} processes of hooks"]
        if self._only_orphans:
            facts.append("only orphans")
        return [*facts, f"by {self._hooks.sorted_by.title}"]

    @property
    def no_orphans(self) -> str | None:
        return None if self._only_orphans or (self._found and self._found.orphans) else "every hook has its client"

    @property
    def no_orphan_selected(self) -> str | None:
        hook = self._hooks.selected if self.is_mounted else None
        if hook is None:
            return "no process is selected"
        return None if hook.orphan else "a client waits for this one, and ends it at its timeout"

    def do_clear_filter(self) -> None:
        """All rows again: also those that ``o`` hid."""
        self._only_orphans = False
        super().do_clear_filter()
        self._show()

    def do_only_orphans(self) -> None:
        self._only_orphans = not self._only_orphans
        self._show()

    def do_copy_kill(self) -> None:
        if (hook := self._hooks.selected) is not None:
            self.clip(f"kill {hook.process.pid}", f"kill {hook.process.pid}")
