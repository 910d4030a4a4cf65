"""The pane below the table: a row's facts at once, and what lies beyond them as soon as a worker has read it."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from overdeck.errors import OverdeckError
from overdeck.incidents.text import shown
from overdeck.telemetry.report import ModuleRow, Report
from overdeck.tui.hooks import jobs
from overdeck.tui.hooks.detail import beyond, facts, group_facts, incident_lines
from overdeck.tui.hooks.lines import Line
from overdeck.tui.surroundings import Surroundings

if TYPE_CHECKING:
    from overdeck.incidents.ofmodule import Related
    from overdeck.wiring.dossier import Dossier

SETTLE_S = 0.06
"""A row that the cursor only passes is not read: less than a person notices, more than a key repeats in."""
WIDE = 140


class Detail(VerticalScroll):
    """Scrolls; two columns where there is room. What settings files and logs say is shown, never obeyed: no escapes."""

    DEFAULT_CSS = """
    Detail { height: 45%; min-height: 6; border-top: solid $primary; padding: 0 1; }
    Detail > Container { height: auto; layout: vertical; }
    Detail > Container > Static { height: auto; width: 1fr; }
    Detail.-wide > Container { layout: horizontal; }
    Detail.-wide #facts { padding-right: 2; }
    """

    can_focus = True

    @dataclass
    class Known(Message):
        """What lies beyond the counts of one row, and its incidents or why they are not known."""

        id: str
        dossier: "Dossier | None" = None
        related: "Related | None" = None
        registry: Path | None = None
        """The folder in which its incidents are, and where one would be written."""
        problem: OverdeckError | None = None
        final: bool = True

    class Learned(Message):
        """What can be done about the row may be more than before."""

    def __init__(self, around: Surroundings, here: Callable[[], list[str]]) -> None:
        """``here``: the lines that name the keys that do something for the row now."""
        super().__init__()
        self.related: Related | None = None
        self.registry: Path | None = None
        self.registry_problem: OverdeckError | None = None
        self._around = around
        self._here = here
        self._row: ModuleRow | None = None
        self._found: Report | None = None
        self._known: Dossier | None = None
        self._told = ""
        self._clipped = ("", "")  # a row's id, and what was copied while it was selected

    def compose(self) -> ComposeResult:
        with Container():
            yield Static("", markup=False, id="facts")
            yield Static("", markup=False, id="beyond")

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= WIDE, "-wide")

    def tell(self, line: Line | None, found: Report | None) -> None:
        """Of this line of the table; from its top where it is another one."""
        if (line.key if line else "") != self._told:
            self._told = line.key if line else ""
            self.scroll_home(animate=False)
        self._row, self._found = line.row if line else None, found
        if self._row is None or found is None:
            self._known = self.related = None
            self._put("#facts", group_facts(line.group) if line else [])
            self._put("#beyond", [])
            return
        if self._known is None or self._known.id != self._row.id:
            self._known = self.related = None
            self._put("#beyond", [])
        self._show_row(self._row, found)
        self._read(self._row, found)

    def clipped(self, text: str) -> None:
        """Show what was copied of the row, too: not every terminal has a clipboard."""
        if self._row is not None and self._found is not None:
            self._clipped = (self._row.id, text)
            self._show_row(self._row, self._found)

    @work(thread=True, exclusive=True, group="dossier")
    def _read(self, row: ModuleRow, found: Report) -> None:
        worker = get_current_worker()
        time.sleep(SETTLE_S)  # in a thread of its own: a later row cancels it
        if worker.is_cancelled:
            return
        dossier, related, registry, problem = None, None, None, None
        with suppress(OverdeckError, OSError):  # what keeps it from being read, the report says
            dossier = jobs.read_dossier(self._around, row)
            if not worker.is_cancelled:
                self.post_message(self.Known(row.id, dossier, final=False))
        try:
            related, registry = jobs.read_related(self._around, row, found)
        except (OverdeckError, OSError) as error:
            problem = jobs.trouble(error, self._around)
        if not worker.is_cancelled:
            self.post_message(self.Known(row.id, dossier, related, registry, problem))

    @on(Known)
    def _take(self, message: Known) -> None:
        message.stop()
        row = self._row
        if row is None or row.id != message.id:
            return
        self._known = message.dossier or self._known
        if message.final:
            self.related, self.registry, self.registry_problem = message.related, message.registry, message.problem
            if self._found is not None:
                self._show_row(row, self._found)
        lines = beyond(self._known) if self._known else []
        lines += incident_lines(self.related, self.registry, self.registry_problem, self._around.clock())
        self._put("#beyond", self._at_home(lines))
        self.post_message(self.Learned())

    def _show_row(self, row: ModuleRow, found: Report) -> None:
        first, after, *rest = facts(row, found.now)
        id, text = self._clipped
        copied = f"here: sent to the terminal's clipboard: {text}".splitlines() if id == row.id else []
        # The copied text stands as it was copied; in the other lines paths are as people write them.
        self._put("#facts", [*self._at_home([first, after]), *copied, *self._at_home([*self._here(), *rest])])

    def _put(self, selector: str, lines: Sequence[str]) -> None:
        self.query_one(selector, Static).update("\n".join(map(shown, lines)))

    def _at_home(self, lines: Sequence[str]) -> list[str]:
        return [self._around.at_home(line) for line in lines]
