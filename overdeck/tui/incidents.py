"""The incidents page: what is open or was, found as it is typed; timeline, evidence and playbook of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Input, Static
from textual.worker import get_current_worker

from overdeck.errors import OverdeckError
from overdeck.incidents import current, registry, story
from overdeck.incidents.fold import Incident
from overdeck.incidents.listing import select
from overdeck.incidents.text import shown
from overdeck.tui.help import Help

STATES = ("open", "resolved", "wont-fix", "evidence-lost", "all")
COLUMNS = ("id", "state", "class", "seen", "last (UTC)", "title")


class IncidentsPage(Screen[None]):
    """Reads the registry in worker threads, which post messages; changes nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+c", "app.quit", "Quit", tooltip="Leave overdeck"),
        Binding("question_mark", "help", "Help", tooltip="Show these keys"),
        Binding("slash", "filter", "Filter", tooltip="Show only rows that contain what you type; enter keeps it"),
        Binding("escape", "clear_filter", "Clear", show=False, tooltip="Show all rows again"),
        Binding("s", "next_state", "State", tooltip="Open ones, resolved ones, … all"),
        Binding("r", "refresh", "Refresh", tooltip="Read the log again"),
    ]

    DEFAULT_CSS = """
    IncidentsPage #status { height: 1; padding: 0 1; background: $panel; }
    IncidentsPage #notice { height: auto; max-height: 4; padding: 0 1; color: $warning; display: none; }
    IncidentsPage #filter { height: 3; display: none; }
    IncidentsPage DataTable { height: 1fr; }
    IncidentsPage VerticalScroll { height: 12; border-top: solid $primary; padding: 0 1; }
    """

    @dataclass
    class Loaded(Message):
        """Every incident, without its events, and what the reader should know."""

        incidents: Sequence[Incident]
        warnings: Sequence[str]

    @dataclass
    class Failed(Message):
        """The registry could not be read."""

        error: OverdeckError

    @dataclass
    class Told(Message):
        """The story of one incident."""

        key: str
        lines: Sequence[str]

    def __init__(self, root: Path, cache: Path) -> None:
        """``root`` is the registry's folder; its read model is kept below ``cache``."""
        super().__init__()
        self._root = root
        self._cache = cache
        self._incidents: Sequence[Incident] | None = None
        self._rows: dict[str, Incident] = {}
        self._state = STATES[0]

    def compose(self) -> ComposeResult:
        yield Static("reading the log …", markup=False, id="status")
        yield Static("", markup=False, id="notice")
        yield Input(placeholder="id, class or title", id="filter")
        yield DataTable[Text](cursor_type="row", zebra_stripes=True, id="incidents")
        with VerticalScroll(can_focus=True):
            yield Static("", markup=False, id="story")
        yield Footer()

    def on_mount(self) -> None:
        self._table.add_columns(*COLUMNS)
        self._table.focus()
        self._load()

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one("#incidents", DataTable)

    @work(thread=True, exclusive=True, group="list")
    def _load(self) -> None:
        worker = get_current_worker()
        warnings: list[str] = []
        try:
            found = current.overview(registry.load(self._root), warnings.append, self._cache)
            loaded: Message = self.Loaded(found.incidents, warnings)
        except OverdeckError as error:
            loaded = self.Failed(error)
        if not worker.is_cancelled:
            self.post_message(loaded)

    @work(thread=True, exclusive=True, group="story")
    def _read_story(self, key: str) -> None:
        worker = get_current_worker()
        try:
            lines = story.told(registry.load(self._root), key)
        except OverdeckError as error:
            lines = [f"error: {error.message}", f"next: {error.hint}"]
        if not worker.is_cancelled:
            self.post_message(self.Told(key, lines))

    @on(Loaded)
    def _take_incidents(self, message: Loaded) -> None:
        self._incidents = message.incidents
        lines = [f"warning: {warning}" for warning in message.warnings]
        if not message.incidents:
            lines.insert(0, "No incident is recorded. Quit and type: od-incidents open --class CLASS --title …")
        self._notice(lines)
        self._show_rows()

    @on(Failed)
    def _take_error(self, message: Failed) -> None:
        self._notice([f"error: {message.error.message}", f"next: {message.error.hint}"])
        self.query_one("#status", Static).update("the registry cannot be read")

    @on(Told)
    def _take_story(self, message: Told) -> None:
        if message.key == self._selected:
            self.query_one("#story", Static).update("\n".join(message.lines))

    @on(DataTable.RowHighlighted)
    def _select(self, message: DataTable.RowHighlighted) -> None:
        if message.row_key and message.row_key.value:
            self._read_story(message.row_key.value)

    @on(Input.Changed, "#filter")
    def _filter_as_typed(self) -> None:
        self._show_rows()

    @on(Input.Submitted, "#filter")
    def _keep_filter(self) -> None:
        self._table.focus()

    def action_help(self) -> None:
        self.app.push_screen(Help("Incidents", [b for b in self.BINDINGS if isinstance(b, Binding)]))

    def action_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.display = True
        box.focus()

    def action_clear_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.value = ""
        box.display = False
        self._table.focus()

    def action_next_state(self) -> None:
        self._state = STATES[(STATES.index(self._state) + 1) % len(STATES)]
        self._show_rows()

    def action_refresh(self) -> None:
        self.query_one("#status", Static).update("reading the log …")
        self._load()

    @property
    def _selected(self) -> str | None:
        table = self._table
        if not table.is_valid_row_index(table.cursor_row):
            return None
        return table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value

    def _show_rows(self) -> None:
        """Fill the table anew, the cursor on the incident it was on."""
        if self._incidents is None:
            return
        before, wanted = self._selected, self.query_one("#filter", Input).value.casefold()
        chosen = [
            one
            for one in select(self._incidents, state=self._state)
            if wanted in f"{one.id} {one.slug} {one.title}".casefold()
        ]
        self._rows = {one.key: one for one in chosen}
        table = self._table
        table.clear()
        for one in chosen:
            moment = one.last_at[:16].replace("T", " ")
            cells = (one.id, one.state, shown(one.slug), str(one.occurrences), moment, shown(one.title))
            table.add_row(*map(Text, cells), key=one.key)
        if before in self._rows:
            table.move_cursor(row=table.get_row_index(before))
        if not chosen:
            self.query_one("#story", Static).update("")
        status = f"{len(chosen)} of {len(self._incidents)} incidents · {self._state} · {self._root}"
        self.query_one("#status", Static).update(f"{status} · od-incidents list --json")

    def _notice(self, lines: list[str]) -> None:
        notice = self.query_one("#notice", Static)
        notice.update("\n".join(lines))
        notice.display = bool(lines)
