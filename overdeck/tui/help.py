"""The page behind ``?``: made from the bindings of the page that opened it, so that it cannot be wrong."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

NAMES = {"question_mark": "?", "slash": "/", "escape": "esc"}
"""Textual's names of keys that people call otherwise."""


def key_lines(bindings: list[Binding]) -> list[str]:
    """One line a binding: its keys, and what they do."""
    shown = [
        (", ".join(NAMES.get(key.strip(), key.strip()) for key in binding.key.split(",")), binding)
        for binding in bindings
    ]
    width = max((len(keys) for keys, _binding in shown), default=0)
    return [f"{keys.ljust(width)}  {binding.tooltip or binding.description}" for keys, binding in shown]


class Help(ModalScreen[None]):
    """The keys of one page."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", "Close")]

    DEFAULT_CSS = """
    Help { align: center middle; }
    Help > VerticalScroll {
        width: 64; height: auto; max-height: 90%; padding: 1 2; border: round $primary; background: $surface;
    }
    """

    def __init__(self, title: str, bindings: list[Binding]) -> None:
        super().__init__()
        self._title = title
        self._lines = key_lines([*bindings, *(b for b in self.BINDINGS if isinstance(b, Binding))])

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static("\n".join([self._title, "", *self._lines]), markup=False, id="keys")
