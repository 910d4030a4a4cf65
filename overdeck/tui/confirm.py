"""A question with one answer: what enter will do, or esc."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Label, Static

from overdeck.tui.box import Box


class Confirm(ModalScreen[bool]):
    """True where the user pressed enter. ``about`` says what will then be done, and where."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go_on", "Go on"),
        Binding("escape,q", "leave", "Leave"),
    ]

    DEFAULT_CSS = "Confirm { align: center middle; }"

    def __init__(self, title: str, about: str) -> None:
        super().__init__()
        self._title = title
        self._about = about

    def compose(self) -> ComposeResult:
        with Box():
            yield Label(self._title, markup=False, id="question")
            yield Static(self._about, markup=False, id="about")
            yield Label("enter: do it; esc: leave, nothing is changed", markup=False)

    def action_go_on(self) -> None:
        self.dismiss(True)

    def action_leave(self) -> None:
        self.dismiss(False)
