"""A question with several things that may be done: each is ticked or not, enter does the ticked ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Label, Static

from overdeck.tui.box import Box


@dataclass(frozen=True)
class Choice:
    """``key`` is what the answer holds, ``text`` what is read."""

    key: str
    text: str


class Choose(ModalScreen[tuple[str, ...] | None]):
    """Keys of what is ticked, at least one; None where the user left with esc. ``about``: where it will be done.

    All are ticked at first. A tick is a letter, no colour: it is seen in every theme.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go_on", "Go on"),
        Binding("space,x", "tick", "Tick"),
        Binding("up,k", "move(-1)", "Up"),
        Binding("down,j", "move(1)", "Down"),
        Binding("escape,q", "leave", "Leave"),
    ]

    DEFAULT_CSS = """
    Choose { align: center middle; }
    Choose #choices { margin: 1 0; link-style: none; link-background: $surface; link-color: $foreground; }
    Choose #refused { color: $error; }
    """

    def __init__(self, title: str, choices: Sequence[Choice], about: str) -> None:
        super().__init__()
        self._title = title
        self._choices = choices
        self._about = about
        self._at = 0
        self._ticked = {choice.key for choice in choices}

    def compose(self) -> ComposeResult:
        with Box(can_focus=False):
            yield Label(self._title, markup=False, id="question")
            yield Static("", id="choices")
            yield Static(self._about, markup=False, id="about")
            yield Static("", markup=False, id="refused")
            yield Label(
                "enter: do the ticked ones; space: tick or untick; esc: leave, nothing is changed", markup=False
            )

    def on_mount(self) -> None:
        self._draw()

    def _draw(self) -> None:
        lines = []
        for place, choice in enumerate(self._choices):
            mark = "x" if choice.key in self._ticked else " "
            here = place == self._at
            style = Style.from_meta({"@click": f"screen.tick({place})"}) + Style(reverse=here)
            lines.append(Content.assemble((f"{'>' if here else ' '} [{mark}] {choice.text}", style)))
        self.query_one("#choices", Static).update(Content("\n").join(lines))
        self.query_one("#refused", Static).update(
            "" if self._ticked else "nothing is ticked: there is nothing to do"
        )

    def action_move(self, lines: int) -> None:
        self._at = min(max(self._at + lines, 0), len(self._choices) - 1)
        self._draw()

    def action_tick(self, place: int | None = None) -> None:
        self._at = self._at if place is None else place
        self._ticked ^= {self._choices[self._at].key}
        self._draw()

    def action_go_on(self) -> None:
        if self._ticked:
            self.dismiss(tuple(choice.key for choice in self._choices if choice.key in self._ticked))

    def action_leave(self) -> None:
        self.dismiss(None)
