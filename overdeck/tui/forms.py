"""A question to the user: a few lines to fill in, and what will be done with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from overdeck.tui.box import Box


@dataclass(frozen=True)
class Field:
    """``needed``: why an empty answer is refused; "" where it may be empty."""

    key: str
    label: str
    value: str = ""
    placeholder: str = ""
    needed: str = ""


class Form(ModalScreen[dict[str, str] | None]):
    """Answers by field, or None where the user left with esc. ``about``: what enter will do, before it does it;
    ``refused``: why what was answered before was not done."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave")]

    DEFAULT_CSS = """
    Form { align: center middle; }
    Form Input { height: 1; margin-bottom: 1; background: $boost; }
    Form #refused { color: $error; }
    """

    def __init__(self, title: str, fields: Sequence[Field], about: str = "", refused: str = "") -> None:
        super().__init__()
        self._title = title
        self._fields = fields
        self._about = about
        self._refused = refused

    def compose(self) -> ComposeResult:
        with Box(can_focus=False):
            yield Label(self._title, markup=False, id="question")
            if self._about:
                yield Static(self._about, markup=False, id="about")
            for field in self._fields:
                yield Label(field.label, markup=False)
                yield Input(field.value, placeholder=field.placeholder, id=f"field-{field.key}", compact=True)
            yield Static(self._refused, markup=False, id="refused")
            yield Label("enter: go on; tab: next line; esc: leave, nothing is changed", markup=False)

    @on(Input.Submitted)
    def _submit(self) -> None:
        answers = {field.key: self.query_one(f"#field-{field.key}", Input).value.strip() for field in self._fields}
        for field in self._fields:
            if field.needed and not answers[field.key]:
                self.query_one("#refused", Static).update(field.needed)
                self.query_one(f"#field-{field.key}", Input).focus()
                return
        self.dismiss(answers)

    def action_leave(self) -> None:
        self.dismiss(None)
