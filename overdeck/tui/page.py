"""The frame of every page: tabs, how it stands, what it says, the filter, the page's own body, its twin, its keys."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.css.query import NoMatches
from textual.events import Resize
from textual.message import Message
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Input, Static

from overdeck.tui import standing, themes
from overdeck.tui.actions import Action, bindings, every
from overdeck.tui.help import Help
from overdeck.tui.keybar import KeyBar
from overdeck.tui.standing import Standing
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import RowTable
from overdeck.tui.typable import typable, typable_in

TABS = (
    ("hooks", "1", "Hooks"),
    ("incidents", "2", "Incidents"),
    ("machine", "3", "Machine"),
    ("bench", "4", "Bench"),
)


class Page(Screen[None]):
    """A page says what its body is, how it is loaded, and what its twin is; it posts what its workers found.

    ``OWN``: the actions it adds. ``EVERY_S``: seconds after which it loads again by itself, None: only when asked.
    """

    PAGE: ClassVar[str]
    HEADING: ClassVar[str]
    OWN: ClassVar[tuple[Action, ...]] = ()
    EVERY_S: ClassVar[float | None] = None
    FILTER: ClassVar[str] = "part of a name"
    # Before the styles are there, the hidden filter would be the first that can have the focus, and eat the keys.
    AUTO_FOCUS: ClassVar[str | None] = ""

    DEFAULT_CSS = """
    Page #tabs {
        height: 1; background: $panel; link-style: none; link-background: $panel; link-color: $foreground;
    }
    Page #status { height: 1; padding: 0 1; color: $text; text-wrap: nowrap; text-overflow: ellipsis; }
    Page #notice { height: auto; max-height: 4; padding: 0 1; color: $warning; display: none; }
    Page #filter { height: 1; padding: 0 1; background: $boost; display: none; }
    Page DataTable { height: 1fr; }
    Page #twin { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    class Go(Message):
        """To another page; ``search`` is typed into its filter."""

        def __init__(self, page: str, search: str = "") -> None:
            super().__init__()
            self.page = page
            self.search = search

    def __init_subclass__(cls, **kwargs: Any) -> None:
        cls.BINDINGS = [*bindings(every(cls.OWN))]
        super().__init_subclass__(**kwargs)

    def __init__(self, around: Surroundings, *, alone: bool = False) -> None:
        """``alone``: the application has no other page."""
        super().__init__()
        self.around = around
        self.alone = alone
        self.paused = False
        self._standing = Standing(busy="reading")
        self._failed = ""
        self._search = ""
        self._composed = False
        self._put_last: dict[str, str] = {}

    # What a page says about itself.

    def body(self) -> ComposeResult:
        """The widgets between the filter and the twin."""
        raise NotImplementedError

    def load(self) -> None:
        """Start the worker that reads; it posts a message of the page's own, whose handler sets ``standing``."""
        raise NotImplementedError

    def twin(self) -> str:
        """The command whose output carries what is seen, as JSON."""
        raise NotImplementedError

    def filtered(self, text: str) -> None:
        """The filter says ``text`` now; "" is no filter."""

    def copied(self) -> tuple[str, str] | None:
        """What ``c`` copies: what it is called, and its text; None where nothing is selected."""
        return None

    # What a page asks of its frame.

    @property
    def standing(self) -> Standing:
        return self._standing

    @standing.setter
    def standing(self, new: Standing) -> None:
        self._standing = new
        self.redraw()

    @property
    def typable_twin(self) -> str:
        """The twin as this user can type it."""
        return typable(self.twin(), self.around.folder)

    @property
    def filter_text(self) -> str:
        return self.query_one("#filter", Input).value.strip()

    def say(self, text: str, *, trouble: bool = False) -> None:
        """A passing word: what was done, or why it was not; it is gone at the next key."""
        if not trouble:
            self._failed = ""
        self.notify(text, severity="warning" if trouble else "information", markup=False, timeout=8)

    def fail(self, text: str) -> None:
        """What was asked for went wrong: the status line keeps it until something is done or read again."""
        self._failed = text
        self.say(text, trouble=True)
        self.redraw()

    def clip(self, what: str, text: str) -> None:
        """Put ``text`` on the user's clipboard (OSC 52: the terminal does it, where it allows that)."""
        self.app.copy_to_clipboard(text)
        self.say(f"sent to the terminal's clipboard: {what}")

    def arrive(self, search: str) -> None:
        """Another page sent the user here to see what contains ``search``; at once, or as soon as there is a filter."""
        self._search = search
        if self._composed:
            box = self.query_one("#filter", Input)
            box.display = True
            box.value = search

    def come_back(self) -> None:
        """The user was on another page: nobody read this one meanwhile. Paused, it says how old it is."""
        if self._composed:
            if not self.paused and not self._standing.busy:
                self.load()
            self.redraw()

    def actions(self) -> list[tuple[Action, str | None]]:
        """Every action, with the reason why it cannot be done now."""
        return [(action, action.available(self)) for action in every(self.OWN)]

    def doing(self, name: str) -> Callable[[], None]:
        """What the palette calls."""
        return partial(self.action_act, name)

    def redraw(self) -> None:
        """Status, notice, twin and keys, as things are now; what is as it was costs no layout."""
        if not self._composed:
            return
        around, now = self.around, self.around.clock()
        lines = [around.at_home(typable_in(line, around.folder)) for line in standing.notice(self._standing)]
        failed = around.at_home(typable_in(self._failed, around.folder))
        self._put("status", standing.status(self._standing, now, paused=self.paused, failed=failed))
        self._put("notice", "\n".join(lines))
        self.query_one("#notice").display = bool(lines)
        twin = f"as JSON: {self.typable_twin}"
        fits = cell_len(twin) <= self.size.width - 2  # its padding
        self._put("twin", twin if fits else f"y copies: {self.typable_twin}")
        self.query_one(KeyBar).show(self.actions(), self.size.width)

    def _put(self, id: str, text: str) -> None:
        if self._put_last.get(id) != text:
            self._put_last[id] = text
            self.query_one(f"#{id}", Static).update(text)

    # The frame itself.

    def compose(self) -> ComposeResult:
        yield Static(self._tabs(), id="tabs")
        yield Static("", markup=False, id="status")
        yield Static("", markup=False, id="notice")
        yield Input(placeholder=f"/ {self.FILTER}", id="filter", compact=True)
        yield from self.body()
        yield Static("", markup=False, id="twin")
        yield KeyBar()

    def on_mount(self) -> None:
        self._composed = True
        table = self._table
        if table is not None:
            table.focus()
        if self._search:
            self.arrive(self._search)
        self.redraw()
        self.load()
        self.set_interval(1, self.redraw)
        if self.EVERY_S and self.around.live:
            self.set_interval(self.EVERY_S, self._load_by_itself)

    def on_resize(self, _event: Resize) -> None:
        self.redraw()

    def action_act(self, name: str) -> None:
        """Do the action of that name, or say why it cannot be done."""
        action, reason = next(pair for pair in self.actions() if pair[0].name == name)
        if reason:
            self.say(f"{action.title}: {reason}", trouble=True)
            return
        getattr(self, f"do_{name}")()
        self.redraw()

    def _load_by_itself(self) -> None:
        # Under a question, a help page or another page nobody sees it.
        if self.app.screen is self and not self.paused:
            self.load()

    def _tabs(self) -> Content:
        parts = [Content(" overdeck ").stylize("bold")]
        for page, key, title in TABS:
            if page == self.PAGE:
                parts.append(Content(f" {key} {title} ").stylize("reverse"))
            elif not self.alone:
                click = Style.from_meta({"@click": f"screen.act('page_{page}')"})
                parts.append(Content.assemble((f" {key} {title} ", click)))
        return Content.assemble(*parts)

    @property
    def _table(self) -> RowTable[Any] | None:
        """The one that has the focus, else the first."""
        if isinstance(self.focused, RowTable):
            return self.focused
        try:
            return self.query(RowTable).first()
        except NoMatches:
            return None

    @on(Input.Changed, "#filter")
    def _filter_as_typed(self, message: Input.Changed) -> None:
        message.stop()
        self.filtered(message.value.strip())
        self.redraw()

    @on(Input.Submitted, "#filter")
    def _keep_filter(self, message: Input.Submitted) -> None:
        message.stop()
        self.set_focus(self._table)

    @on(RowTable.Picked)
    @on(RowTable.Sorted)
    def _other_row(self) -> None:
        self.redraw()

    # Why not, for the actions of every page.

    @property
    def no_table(self) -> str | None:
        return None if self._table is not None else "this page has no table"

    @property
    def no_timer(self) -> str | None:
        return None if self.EVERY_S else "this page reads when you press r, never by itself"

    @property
    def nothing_to_copy(self) -> str | None:
        return None if self.copied() else "no row is selected"

    def no_page(self, page: str) -> str | None:
        if page == self.PAGE:
            return "you are on this page"
        return "this is one page alone; quit and type: overdeck tui" if self.alone else None

    # The actions of every page.

    def do_help(self) -> None:
        self.app.push_screen(Help(self.HEADING, self.actions(), self.around.folder))

    def do_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.display = True
        self.set_focus(box)  # at once: what is typed right behind the key belongs into the box

    def do_clear_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.value = ""
        box.display = False
        if self._table is not None:
            self.set_focus(self._table)

    def do_next_sort(self) -> None:
        if self._table is not None:
            self._table.sort_next()

    def do_flip_sort(self) -> None:
        if self._table is not None:
            self._table.flip()

    def do_refresh(self) -> None:
        self._failed = ""
        self.load()

    def do_pause(self) -> None:
        self.paused = not self.paused
        if not self.paused:
            self.load()

    def do_copy(self) -> None:
        if found := self.copied():
            self.clip(*found)

    def do_copy_twin(self) -> None:
        self.clip(self.typable_twin, self.typable_twin)

    def do_page_hooks(self) -> None:
        self.post_message(self.Go("hooks"))

    def do_page_incidents(self) -> None:
        self.post_message(self.Go("incidents"))

    def do_page_machine(self) -> None:
        self.post_message(self.Go("machine"))

    def do_page_bench(self) -> None:
        self.post_message(self.Go("bench"))

    def do_theme(self) -> None:
        self.app.theme = themes.after(self.app.theme)
        self.say(f"theme: {self.app.theme}")

    def do_palette(self) -> None:
        self.app.action_command_palette()

    def do_quit(self) -> None:
        self.app.exit()

    def do_quit_now(self) -> None:
        self.app.exit()
