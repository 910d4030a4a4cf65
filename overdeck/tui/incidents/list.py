"""The list of incidents: by state and kind, narrowed by what is typed, and read again once somebody has written."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.worker import get_current_worker

from overdeck.errors import OverdeckError
from overdeck.incidents.fold import EVIDENCE_LOST, OPEN, RESOLVED, WONT_FIX, Incident
from overdeck.incidents.listing import select
from overdeck.tui.incidents.columns import columns, fit
from overdeck.tui.incidents.reading import TROUBLE, Listed, Reader, Stamp, told
from overdeck.tui.standing import Standing
from overdeck.tui.table import RowTable

STATES = (OPEN, RESOLVED, WONT_FIX, EVIDENCE_LOST, "all")


class IncidentList(Container):
    """Reads in worker threads, one list and one search at a time: a thread cannot be stopped, so none is started for a
    wish that the next key makes old."""

    class Changed(Message):
        """How it stands, or what it shows, is another; see ``standing``."""

    @dataclass
    class Selected(Message):
        """The cursor is on the incident with this key, which may have changed; None where there is none."""

        key: str | None

    @dataclass
    class Read(Message):
        """The list was read; None where it is as it was."""

        listed: Listed | None

    @dataclass
    class Failed(Message):
        """The registry could not be read."""

        error: OverdeckError

    class Moved(Message):
        """The log has changed since the list was read, and nobody reads it: the page is paused."""

    @dataclass
    class Found(Message):
        """Keys of what fits a query, best first."""

        query: str
        keys: Sequence[str]
        error: OverdeckError | None = None

    def __init__(self, reader: Reader, at_work: Callable[[Incident], bool]) -> None:
        """``at_work``: whether an incident is being verified now."""
        super().__init__()
        self.standing = Standing(busy="reading the log")
        self._reader = reader
        self._at_work = at_work
        self._listed: Listed | None = None
        self._reading = False
        self._again = False
        self._moved = False
        self._state: str = STATES[0]
        self._type = ""
        self._query = ""
        self._asked: str | None = None
        self._answered = ""
        self._ranks: Mapping[str, int] | None = None
        self._wanted = ""
        self._plain = columns(self._state_of, self._type_of)
        self._fitting = (self._plain[0], fit(lambda one: (self._ranks or {}).get(one.key, 0)), *self._plain[1:])

    def compose(self) -> ComposeResult:
        yield RowTable[Incident](self._plain, lambda one: one.key, sort_by="last", id="incidents")

    @property
    def table(self) -> RowTable[Incident]:
        return self.query_one("#incidents", RowTable)

    @property
    def selected(self) -> Incident | None:
        return self.table.selected

    @property
    def resolved(self) -> int:
        """How many could be verified."""
        return sum(one.state == RESOLVED for one in self._listed.incidents) if self._listed else 0

    @property
    def is_read(self) -> bool:
        return self._listed is not None

    def typed(self) -> str:
        """The arguments of ``od-incidents`` that list what is seen."""
        if self._ranks is not None:
            return f"search {shlex.quote(self._query)}"
        return f"list --state {self._state}{f' --type {self._type}' if self._type else ''}"

    # Reading.

    def load(self) -> None:
        """Read the list where it has changed; while it is being read, once more after that."""
        if self._reading:
            self._again = True
        else:
            self._reading = True
            self._read(self._listed.stamp if self._listed else None)

    def reload(self) -> None:
        """Read the list whatever it was, and say so meanwhile."""
        self._stand(replace(self.standing, busy="reading the log"))
        self._again = self._reading
        if not self._reading:
            self._reading = True
            self._read(None)

    def look(self) -> None:
        """Only see whether the list has changed since."""
        if self._listed is not None and not (self._reading or self._moved):
            self._look(self._listed.stamp)

    @work(thread=True, group="list")
    def _read(self, before: Stamp | None) -> None:
        try:
            same = before is not None and self._reader.stamp() == before
            listed = None if same else self._reader.listed(first=self._listed is None)
            found: Message = self.Read(listed)
        except TROUBLE as error:
            found = self.Failed(told(error))
        self.post_message(found)

    @work(thread=True, exclusive=True, group="look")
    def _look(self, before: Stamp) -> None:
        try:
            moved = self._reader.stamp() != before
        except TROUBLE:
            return  # reading will tell
        if moved and not get_current_worker().is_cancelled:
            self.post_message(self.Moved())

    @on(Read)
    def _take_list(self, message: Read) -> None:
        message.stop()
        self._reading = self._moved = False
        if self._again:
            self._again = False
            self.load()
        if message.listed is None:
            now = self._reader.around.clock()
            self._stand(replace(self.standing, busy="", error=None, as_of=now))
            return
        self._listed = message.listed
        missing = ""
        if not message.listed.incidents:
            missing = (
                f"no incident is recorded in {message.listed.root}{message.listed.elsewhere}. Press o to open one"
            )
        self.standing = Standing(as_of=message.listed.read_at, missing=missing, warnings=message.listed.warnings)
        self._answered = ""
        self.search(self._query)
        self.show_rows()

    @on(Failed)
    def _take_error(self, message: Failed) -> None:
        message.stop()
        self._reading = False
        error = message.error
        if error.code == "no-registry" and self._listed is None:
            now = self._reader.around.clock()
            self._stand(Standing(missing=f"{error.message}. Type: {error.hint}", as_of=now))
        else:
            self._stand(replace(self.standing, busy="", error=error))

    @on(Moved)
    def _take_moved(self, message: Moved) -> None:
        message.stop()
        self._moved = True
        self.show_rows()

    @on(RowTable.Picked)
    def _take_row(self, message: RowTable.Picked) -> None:
        # What is posted while its parent is at work goes no further than to that parent.
        message.stop()
        self.post_message(self.Selected(message.key))

    # Which ones.

    def search(self, text: str) -> None:
        """Show only what fits ``text``; everything where it is empty."""
        self._query = text
        if not text:
            if self._ranks is not None:
                self._ranks = None
                self.show_rows()
            self._answered = ""
        elif text != self._answered and self._asked is None:
            self._asked = text
            self._search(text)

    @work(thread=True, group="search")
    def _search(self, query: str) -> None:
        try:
            found = self.Found(query, self._reader.found(query))
        except TROUBLE as error:
            found = self.Found(query, (), told(error))
        self.post_message(found)

    @on(Found)
    def _take_found(self, message: Found) -> None:
        message.stop()
        self._asked, self._answered = None, message.query
        if not self._query:
            return
        if message.error is not None:
            self._stand(replace(self.standing, error=message.error))
        self._ranks = {key: place for place, key in enumerate(message.keys, start=1)}
        self.show_rows()
        self.search(self._query)  # the user has typed on meanwhile

    def next_state(self) -> None:
        self._state = STATES[(STATES.index(self._state) + 1) % len(STATES)]
        self.show_rows()

    def show_all(self) -> None:
        """Every type again; where none is in that state, every state, too."""
        self._type = ""
        if self._listed is not None and not select(self._listed.incidents, state=self._state):
            self._state = "all"
        self.show_rows()

    def _nothing(self, listed: Listed) -> str:
        """What stands in the place of rows where none is chosen."""
        if not listed.incidents:
            return ""
        here = len(select(listed.incidents, state=self._state))
        state = "" if self._state == "all" else f" {self._state}"
        fits = f" fits {self._query!r}" if self._query else ""
        kind = f" of {self._type}" if self._type else ""
        left = f"all {here}{state}" if here else f"all {len(listed.incidents)}"
        return f"none{state}{kind}{fits}; esc shows {left}"

    def next_type(self) -> None:
        """The next of the types that there are incidents of, or all."""
        there = sorted({self._type_of(one) for one in self._listed.incidents} - {""}) if self._listed else []
        choices = ["", *there]
        place = choices.index(self._type) if self._type in choices else 0
        self._type = choices[(place + 1) % len(choices)]
        self.show_rows()

    def want(self, key: str, state: str) -> None:
        """Put the cursor on the incident with this key, which is in ``state``, as soon as it is in the list."""
        self._wanted = key
        if self._state not in ("all", state):
            self._state = state

    def show_rows(self) -> None:
        """Fill the table with what is chosen."""
        if self._listed is None:
            return
        listed, ranks, table, now = self._listed, self._ranks, self.table, self._reader.around.clock()
        kinds = [key for key, kind in listed.types.items() if kind == self._type] if self._type else None
        rows = [
            one
            for one in select(listed.incidents, state=self._state, class_ids=kinds)
            if ranks is None or one.key in ranks
        ]
        nothing = self._nothing(listed)
        searching = "fit" in [column.key.value for column in table.ordered_columns]
        if searching != (ranks is not None):
            table.set_columns(self._plain if ranks is None else self._fitting)
            table.show(rows, now, nothing)
            table.sort_by("last" if ranks is None else "fit")
        else:
            table.show(rows, now, nothing)
        if self._wanted in table.keys:
            table.select(self._wanted)
            self._wanted = ""
        facts = [f"{len(rows)} of {len(listed.incidents)} incidents", self._state]
        if self._type:
            facts.append(f"{self._type}: {listed.titles.get(self._type, '')}")
        facts.append(f"{listed.root}{listed.elsewhere}")
        if self._moved:
            facts.insert(0, "stale: the log has changed, r reads it")
        self._stand(replace(self.standing, facts=facts))

    def _state_of(self, one: Incident) -> str:
        return f"{one.state}, being verified" if self._at_work(one) else one.state

    def _type_of(self, one: Incident) -> str:
        return self._listed.types.get(one.class_id, "") if self._listed else ""

    def _stand(self, standing: Standing) -> None:
        self.standing = standing
        self.post_message(self.Changed())
