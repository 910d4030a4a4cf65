"""The page behind ``?``: made from the actions of the page that opened it, so that it cannot be wrong."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from overdeck.tui.actions import Action
from overdeck.tui.box import Box


def key_lines(actions: Sequence[tuple[Action, str | None]]) -> list[tuple[str, str | None]]:
    """One line an action: its keys, what they do, and beside it why it can do nothing now."""
    shown = [(action, reason) for action, reason in actions if action.key]
    width = max((len(action.keys) for action, _reason in shown), default=0)
    return [(f"{action.keys.ljust(width)}  {action.help}", reason) for action, reason in shown]


class Help(ModalScreen[None]):
    """The keys of one page."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", "Close")]

    DEFAULT_CSS = "Help { align: center middle; }"

    def __init__(
        self, title: str, actions: Sequence[tuple[Action, str | None]], folder: Path | None = None
    ) -> None:
        """``folder``: where our commands are, where the user's PATH does not lead to them."""
        super().__init__()
        self._folder = folder
        self._title = title
        self._lines = key_lines(actions)

    def compose(self) -> ComposeResult:
        lines = [Content(self._title).stylize("bold"), Content("")]
        for line, reason in self._lines:
            lines.append(Content(line).stylize("dim") if reason else Content(line))
            if reason:
                lines.append(Content(f"    not now: {reason}").stylize("dim"))
        lines += [
            Content(""),
            Content("arrows, page up and down, home and end move; the mouse works; esc closes this"),
        ]
        if self._folder is not None:
            lines += [Content(f"PATH does not lead to this overdeck; its commands are in {self._folder}")]
        with Box():
            yield Static(Content("\n").join(lines), id="keys")
