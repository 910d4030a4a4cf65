"""A question with one answer: what enter will do, or esc."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Label, Static


class Confirm(ModalScreen[bool | None]):
    """True where the user pressed enter. ``about`` says what will then be done, and where."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer(True)", "Go on"),
        Binding("escape,q", "answer(False)", "Leave"),
    ]

    DEFAULT_CSS = """
    Confirm { align: center middle; }
    Confirm > VerticalScroll {
        width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 0 2; border: round $primary;
        background: $surface;
    }
    Confirm Label { width: 100%; }
    """

    def __init__(self, title: str, about: str) -> None:
        super().__init__()
        self._title = title
        self._about = about

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Label(self._title, markup=False, id="question")
            yield Static(self._about, markup=False, id="about")
            yield Label("enter: do it; esc: leave, nothing is changed", markup=False)

    def action_answer(self, go_on: bool) -> None:
        self.dismiss(go_on)
