"""The machine page."""

from textual.app import ComposeResult
from textual.widgets import Static

from overdeck.tui.page import Page
from overdeck.tui.standing import Standing


class MachinePage(Page):
    """Nothing yet but its frame."""

    PAGE = "machine"
    HEADING = "Machine"

    def body(self) -> ComposeResult:
        yield Static("", markup=False, id="body")

    def load(self) -> None:
        self.standing = Standing(missing="type: overdeck doctor --json")

    def twin(self) -> str:
        return "overdeck doctor --json"
