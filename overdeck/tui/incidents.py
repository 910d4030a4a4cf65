"""The incidents page: what is open or was, found as it is typed; timeline, evidence and playbook of one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from overdeck.errors import OverdeckError
from overdeck.incidents import current, registry, story
from overdeck.incidents.fold import Incident
from overdeck.incidents.listing import select
from overdeck.incidents.text import shown
from overdeck.tui.actions import Action
from overdeck.tui.page import Page
from overdeck.tui.standing import Standing
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import Plain, RowTable

STATES = ("open", "resolved", "wont-fix", "evidence-lost", "all")


def _plain(
    key: str, title: str, text: str, *, right: bool = False, largest_first: bool = False
) -> Plain[Incident]:
    def said(one: Incident, _now: datetime) -> str:
        return shown(str(getattr(one, text)))

    return Plain(key, title, said, lambda one: getattr(one, text), right, largest_first)


COLUMNS = (
    _plain("id", "id", "id"),
    _plain("state", "state", "state"),
    _plain("class", "class", "slug"),
    _plain("seen", "seen", "occurrences", right=True, largest_first=True),
    Plain[Incident](
        "last",
        "last (UTC)",
        lambda one, _now: one.last_at[:16].replace("T", " "),
        lambda one: one.last_at,
        largest_first=True,
    ),
    _plain("title", "title", "title"),
)


class IncidentsPage(Page):
    """Reads the registry in worker threads, which post messages."""

    PAGE = "incidents"
    HEADING = "Incidents"
    EVERY_S: ClassVar[float | None] = 10
    FILTER = "id, class or title"
    OWN = (Action("next_state", "o", "State", "Open ones, resolved ones, … all"),)

    DEFAULT_CSS = """
    IncidentsPage VerticalScroll { height: 12; border-top: solid $primary; padding: 0 1; }
    """

    @dataclass
    class Loaded(Message):
        """Every incident, without its events, and what the reader should know."""

        incidents: Sequence[Incident]
        warnings: Sequence[str]
        read_at: datetime

    @dataclass
    class Failed(Message):
        """The registry could not be read."""

        error: OverdeckError

    @dataclass
    class Told(Message):
        """The story of one incident."""

        key: str
        lines: Sequence[str]

    def __init__(self, around: Surroundings, *, alone: bool = False) -> None:
        super().__init__(around, alone=alone)
        self._incidents: Sequence[Incident] | None = None
        self._state = STATES[0]

    def body(self) -> ComposeResult:
        yield RowTable[Incident](COLUMNS, lambda one: one.key, sort_by="last", id="incidents")
        with VerticalScroll(can_focus=True):
            yield Static("", markup=False, id="story")

    def twin(self) -> str:
        return f"od-incidents list --state {self._state} --json"

    def copied(self) -> tuple[str, str] | None:
        one = self._rows.selected
        return ("the incident's id", one.id) if one else None

    @property
    def _rows(self) -> RowTable[Incident]:
        return self.query_one("#incidents", RowTable)

    def load(self) -> None:
        self.standing = replace(self.standing, busy="reading the log")
        self._load()

    def _registry(self) -> registry.Registry:
        around = self.around
        return registry.load(registry.locate(around.registry, around.cwd, around.environ))

    @work(thread=True, exclusive=True, group="list")
    def _load(self) -> None:
        worker = get_current_worker()
        warnings: list[str] = []
        try:
            found = current.overview(self._registry(), warnings.append, self.around.places.cache)
            loaded: Message = self.Loaded(found.incidents, warnings, self.around.clock())
        except OverdeckError as error:
            loaded = self.Failed(error)
        if not worker.is_cancelled:
            self.post_message(loaded)

    @work(thread=True, exclusive=True, group="story")
    def _read_story(self, key: str) -> None:
        worker = get_current_worker()
        try:
            lines = story.told(self._registry(), key)
        except OverdeckError as error:
            lines = [f"error: {error.message}", f"next: {error.hint}"]
        if not worker.is_cancelled:
            self.post_message(self.Told(key, lines))

    @on(Loaded)
    def _take_incidents(self, message: Loaded) -> None:
        self._incidents = message.incidents
        missing = ""
        if not message.incidents:
            missing = "no incident is recorded. Quit and type: od-incidents open --class CLASS --title …"
        self.standing = Standing(as_of=message.read_at, missing=missing, warnings=message.warnings)
        self.filtered(self.filter_text)

    @on(Failed)
    def _take_error(self, message: Failed) -> None:
        self.standing = replace(self.standing, busy="", error=message.error)

    @on(Told)
    def _take_story(self, message: Told) -> None:
        if message.key == self._rows.selected_key:
            self.query_one("#story", Static).update("\n".join(message.lines))

    @on(RowTable.Picked)
    def _show_story(self, message: RowTable.Picked) -> None:
        if message.key:
            self._read_story(message.key)
        else:
            self.query_one("#story", Static).update("")

    def do_next_state(self) -> None:
        self._state = STATES[(STATES.index(self._state) + 1) % len(STATES)]
        self.filtered(self.filter_text)

    def filtered(self, text: str) -> None:
        if self._incidents is None:
            return
        chosen = [
            one
            for one in select(self._incidents, state=self._state)
            if text.casefold() in f"{one.id} {one.slug} {one.title}".casefold()
        ]
        self._rows.show(chosen, self.around.clock())
        facts = (f"{len(chosen)} of {len(self._incidents)} incidents", self._state)
        self.standing = replace(self.standing, facts=facts)
