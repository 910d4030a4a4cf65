"""The door for eyes: one Textual application; each page is a screen of its own."""

from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from overdeck.paths import Places
from overdeck.tui.hooks import HooksPage


class OverdeckApp(App[None]):
    """Shows ``page``, or the hooks page of one user. Holds no logic: pages print what the library functions return."""

    TITLE = "overdeck"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "quit", "Quit", show=False, priority=True)]
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False

    def __init__(self, places: Places, page: Screen[None] | None = None) -> None:
        super().__init__()
        self._page = page or HooksPage(places)

    def on_mount(self) -> None:
        self.push_screen(self._page)


def run(places: Places, page: Screen[None] | None = None) -> None:
    """Show the application until the user quits."""
    OverdeckApp(places, page).run()
