"""The door for eyes: one Textual application; each page is a mode of its own, made when it is first looked at."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.events import Event, Key
from textual.filter import LineFilter
from textual.notifications import Notify

from overdeck.errors import ExitCode, OverdeckError
from overdeck.tui import themes
from overdeck.tui.page import Page
from overdeck.tui.palette import Actions
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.typable import typable


def _hooks(around: Surroundings, *, alone: bool = False) -> Page:
    from overdeck.tui.hooks import HooksPage

    return HooksPage(around, alone=alone)


def _incidents(around: Surroundings, *, alone: bool = False) -> Page:
    from overdeck.tui.incidents import IncidentsPage

    return IncidentsPage(around, alone=alone)


def _machine(around: Surroundings, *, alone: bool = False) -> Page:
    from overdeck.tui.machine import MachinePage

    return MachinePage(around, alone=alone)


def _bench(around: Surroundings, *, alone: bool = False) -> Page:
    from overdeck.tui.bench import BenchPage

    return BenchPage(around, alone=alone)


Maker = Callable[..., Page]
"""Makes a page of the surroundings; ``alone``: it is the only one."""

PAGES: Mapping[str, Maker] = {
    "hooks": _hooks,
    "incidents": _incidents,
    "machine": _machine,
    "bench": _bench,
}
"""Made when they are first looked at; what a page imports is imported then."""


class OverdeckApp(App[None]):
    """Shows ``pages``, the first one first. Holds no logic: pages print what the library functions return."""

    TITLE = "overdeck"
    # Where a page is covered by a question or the palette, the page's own keys are not asked.
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "quit", "Quit", show=False, priority=True)]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Actions}
    COMMAND_PALETTE_BINDING: ClassVar[str] = "ctrl+p"
    # At the top right: the last rows are the keys' and what was written last, the middle is a question's.
    CSS = """
    ToastRack { dock: top; align: right top; margin-bottom: 0; }
    Toast { margin-top: 0; padding: 0 1; }
    """

    def __init__(self, around: Surroundings, pages: Mapping[str, Maker] = PAGES, theme: str | None = None) -> None:
        no_colour = bool(os.environ.get("NO_COLOR"))
        super().__init__()
        for one in themes.THEMES:
            self.register_theme(one)
        self.theme = theme or (themes.NO_COLOUR if no_colour else themes.NAMES[0])
        self._folder = around.folder
        self._first = next(iter(pages))
        for name, make in pages.items():
            self.add_mode(name, partial(make, around, alone=len(pages) == 1))

    def on_mount(self) -> None:
        self.switch_mode(self._first)
        if self._folder is not None:
            where = typable("overdeck", self._folder)
            self.notify(f"PATH does not lead to this overdeck; to type what a page names: {where}", markup=False)
        for one in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(one, self._leave, one)

    def on_notify(self, _event: Notify) -> None:
        """One passing word at a time: it comes before Textual's own handler, which shows the new one."""
        self.clear_notifications()

    async def on_event(self, event: Event) -> None:
        if isinstance(event, Key):  # whoever types has read it
            self.clear_notifications()
        await super().on_event(event)

    def _leave(self, why: signal.Signals) -> None:
        """End as ``q`` does: else the terminal stays raw, reports the mouse and shows the page. A second one kills."""
        asyncio.get_running_loop().remove_signal_handler(why)
        self.exit(return_code=128 + why)

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *themes.filters(self.theme)]

    @on(Page.Go)
    def _go(self, message: Page.Go) -> None:
        self.switch_mode(message.page)  # not awaited: the page's mount waits for this application's messages
        if isinstance(self.screen, Page):
            self.screen.come_back()
            if message.search:
                self.screen.arrive(message.search)


def run(around: Surroundings, *, only: str | None = None, theme: str | None = None) -> int:
    """Show the application, or that page alone, until it is left; the exit code. Raises OverdeckError where it failed.

    The code is 0 where the user left, and 128 and the number of the signal that ended it.
    """
    app = OverdeckApp(around, {only: PAGES[only]} if only else PAGES, theme)
    app.run()
    code = app.return_code or 0
    if code == 1:  # Textual's word for an exception, which it has printed
        raise OverdeckError(
            "the page failed inside",
            code="internal",
            exit_code=ExitCode.INTERNAL,
            hint="this is a bug in Overdeck: please report it with the lines above",
        )
    return code
