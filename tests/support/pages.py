"""The application under a pilot: what a user sees, and waits for conditions, never for lengths of time."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from snapshots import drawn
from textual.command import CommandList, CommandPalette
from textual.notifications import Notify
from textual.pilot import Pilot
from textual.widgets import Static
from textual.widgets._toast import Toast

from overdeck.tui.app import PAGES, Maker, OverdeckApp
from overdeck.tui.keybar import KeyBar
from overdeck.tui.page import Page
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import RowTable

SMALL, LARGE = (80, 24), (200, 60)


class HeardApp(OverdeckApp):
    """Remembers what was said: the screen shows it only until the next key."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.heard: list[str] = []

    def on_notify(self, event: Notify) -> None:
        self.heard.append(event.notification.message)


class Seen:
    """The page that is looked at, and the keys to press."""

    def __init__(self, pilot: Pilot[Any]) -> None:
        self.pilot = pilot
        self.app = pilot.app

    @property
    def page(self) -> Page:
        """The page, also below a help page or a question."""
        found = self.app.screen_stack[0]
        assert isinstance(found, Page)
        return found

    @property
    def table(self) -> RowTable[Any]:
        return self.page.query(RowTable).first()

    @property
    def keys(self) -> list[str]:
        """The rows' keys, top to bottom."""
        return self.table.keys

    def row(self, key: str) -> list[str]:
        """A row's cells."""
        return [str(cell) for cell in self.table.get_row(key)]

    def text(self, selector: str) -> str:
        """A Static's text on the uppermost screen; "" where it is not there (yet)."""
        found = self.app.screen.query(selector)
        return str(found.first(Static).content) if found else ""

    @property
    def keybar(self) -> str:
        return str(self.page.query_one(KeyBar).content)

    @property
    def said(self) -> list[str]:
        """The passing words that were said, oldest first."""
        assert isinstance(self.app, HeardApp)
        return list(self.app.heard)

    @property
    def toasts(self) -> list[str]:
        """The passing words that are on the screen."""
        return [str(toast.render()) for toast in self.app.screen.query(Toast)]

    @property
    def offered(self) -> list[str]:
        """What the palette lists."""
        lists = self.app.screen.query(CommandList)
        return [str(option.hit.text) for option in lists.first()._options] if lists else []

    async def palette(self, text: str) -> None:
        """Open the palette and type ``text``; it is there once its first line begins with that."""
        await self.press("colon")
        await self.until(lambda: isinstance(self.app.screen, CommandPalette))
        await self.type(text)
        await self.until(lambda: self.offered and self.offered[0].lower().startswith(text))

    async def until(self, condition: Callable[[], object]) -> None:
        """Let the application work until ``condition`` holds; the test's timeout ends a wait for what never comes."""
        while not condition():
            await self.pilot.pause(0.01)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Every character as a key."""
        await self.pilot.press(*("space" if c == " " else c for c in text))

    async def settled(self) -> None:
        """No worker is at work, no message waits, and the last of them is drawn."""
        # The palette's own worker waits for what is typed next.
        await self.until(
            lambda: not any(w.is_running for w in self.app.workers if not isinstance(w.node, CommandPalette))
        )
        await self.pilot.pause()
        await self.until(lambda: " …" not in self.text("#status"))
        await self.pilot.pause()

    async def same(self, name: str) -> None:
        """The screen is the one in tests/tui/snapshots, for this size; see ``snapshots``."""
        await self.settled()
        drawn(self.app, f"{name}-{self.app.size.width}x{self.app.size.height}")


@asynccontextmanager
async def opened(
    around: Surroundings,
    page: str = "hooks",
    *,
    size: tuple[int, int] = SMALL,
    alone: bool = False,
    theme: str | None = None,
    made: Mapping[str, Maker] = PAGES,
    toasts: bool = False,
) -> AsyncIterator[Seen]:
    """The application with ``page`` in front, once its first load is done. ``made``: other pages than Overdeck's.

    ``toasts``: passing words are drawn, too.
    """
    pages = {name: make for name, make in made.items() if name == page or not alone}
    pages = {page: pages.pop(page)} | pages
    app = HeardApp(around, pages, theme)
    app.animation_level = "none"  # a bar on its way to its place is no state
    async with app.run_test(size=size, notifications=toasts) as pilot:
        seen = Seen(pilot)
        await seen.until(lambda: isinstance(pilot.app.screen, Page) and pilot.app.screen.is_mounted)
        if around.live:  # its timer may always have another worker at work
            await seen.until(lambda: not seen.page.standing.busy)
        else:
            await seen.settled()
        yield seen


def home_environ(home: Path) -> dict[str, str]:
    """The environment of a user whose home is ``home``, and nothing of this machine's."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}


both_sizes = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "200x60"])
