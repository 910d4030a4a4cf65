"""The pane of one incident: what happened, what proves its end, and what to do about its class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.message import Message
from textual.widgets import Static, TabbedContent, TabPane

from overdeck.errors import OverdeckError
from overdeck.incidents.fold import OPEN
from overdeck.incidents.story import Told
from overdeck.tui.incidents.reading import TROUBLE, Reader, told

if TYPE_CHECKING:
    from textual.widgets import Markdown

PARTS = ("timeline", "evidence", "playbook")


class StoryPane(Container):
    """Reads one story at a time, in a worker thread: a thread cannot be stopped, and only the last wish counts. The
    playbook is laid out only while it is looked at."""

    DEFAULT_CSS = """
    StoryPane { height: 12; border-top: solid $primary; }
    StoryPane TabbedContent, StoryPane ContentSwitcher, StoryPane TabPane { height: 1fr; padding: 0; }
    StoryPane VerticalScroll { height: 1fr; padding: 0 1; }
    StoryPane Markdown { padding: 0; }
    """

    @dataclass
    class Read(Message):
        """The story of one incident; None where it is not there any more."""

        key: str
        told: Told | None

    @dataclass
    class Unreadable(Message):
        """The story could not be read."""

        error: OverdeckError

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.heard: dict[str, list[str]] = {}
        """By incident, what the last run for it printed: no log keeps it."""
        self._reader = reader
        self._wanted: str | None = None
        self._reading: str | None = None
        self._told: Told | None = None
        self._page = ""

    def compose(self) -> ComposeResult:
        with TabbedContent(initial=PARTS[0], id="parts"):
            with TabPane("Timeline", id="timeline"), VerticalScroll(can_focus=True):
                yield Static("", markup=False, id="story")
            with TabPane("Evidence", id="evidence"), VerticalScroll(can_focus=True):
                yield Static("", markup=False, id="proofs")
            with TabPane("Playbook", id="playbook"), VerticalScroll(can_focus=True):
                yield Static("", markup=False, id="no-page")

    def tell(self, key: str | None) -> None:
        """Show the incident of this key, as the log has it now; None: no incident."""
        self._wanted = key
        if key is None:
            self.post_message(self.Read("", None))
        elif self._reading is None:
            self._reading = key
            self._read(key)

    @work(thread=True, group="story")
    def _read(self, key: str) -> None:
        try:
            found: Message = self.Read(key, self._reader.told(key))
        except TROUBLE as error:
            self.post_message(self.Unreadable(told(error)))
            found = self.Read(key, None)
        self.post_message(found)

    @on(Read)
    async def _take(self, message: Read) -> None:
        message.stop()
        if message.key:
            self._reading = None
        if message.key == (self._wanted or ""):
            await self._show(message.told, self.heard.get(message.key, ()))
        elif self._wanted is not None and self._reading is None:
            self.tell(self._wanted)

    async def _show(self, story: Told | None, last: Sequence[str]) -> None:
        if story is None or self._told is None or story.incident.key != self._told.incident.key:
            for part in self.query(VerticalScroll):
                part.scroll_home(animate=False)
        self._told = story
        if story is None:
            self.query_one("#story", Static).update("")
            self.query_one("#proofs", Static).update("")
        else:
            warned = self._warned(story)
            self.query_one("#story", Static).update("\n".join([*warned, *story.facts, "", *story.timeline]))
            self.query_one("#proofs", Static).update("\n".join([*_evidence(story), *_printed(last)]))
        await self._lay_out()

    def next(self) -> None:
        """The next part in front."""
        parts = self.query_one("#parts", TabbedContent)
        parts.active = PARTS[(PARTS.index(parts.active) + 1) % len(PARTS)]

    @on(TabbedContent.TabActivated)
    async def _other_part(self, message: TabbedContent.TabActivated) -> None:
        message.stop()
        await self._lay_out()

    async def _lay_out(self) -> None:
        if self.query_one("#parts", TabbedContent).active != "playbook":
            return
        page = self._told.page if self._told else ""
        missing = ""
        if self._told is not None and not page:
            missing = "\n".join(["There is no page for this class.", *self._warned(self._told)])
        self.query_one("#no-page", Static).update(missing)
        self.query_one("#no-page", Static).display = bool(missing)
        if page != self._page:
            self._page = page
            await (await self._document()).update(page)

    def _warned(self, story: Told) -> list[str]:
        return [self._reader.around.at_home(f"warning: {warning}") for warning in story.warnings]

    async def _document(self) -> "Markdown":
        """The page's widget, made when the first page is looked at: it loads a Markdown parser."""
        from textual.widgets import Markdown

        found = self.query(Markdown)
        if found:
            return found.first()
        made = Markdown("", id="page", open_links=False)
        await self.query_one("#playbook VerticalScroll").mount(made)
        return made


def _evidence(story: Told) -> list[str]:
    """The evidence, or what there would have to be."""
    if story.evidence:
        return list(story.evidence)
    if story.incident.state == OPEN:
        return ["Nothing proves that it is over. x resolves it, with an artifact that is checked."]
    return ["Nothing proves its end."]


def _printed(lines: Sequence[str]) -> list[str]:
    return ["", "what the last run here printed (the log keeps its digest):", *lines] if lines else []
