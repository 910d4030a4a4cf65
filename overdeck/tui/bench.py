"""The bench page."""

from textual.app import ComposeResult
from textual.widgets import Static

from overdeck.tui.page import Page
from overdeck.tui.standing import Standing


class BenchPage(Page):
    """Nothing yet but its frame."""

    PAGE = "bench"
    HEADING = "Bench"

    def body(self) -> ComposeResult:
        yield Static("", markup=False, id="body")

    def load(self) -> None:
        self.standing = Standing(missing="type: hookbench report --json")

    def twin(self) -> str:
        return "hookbench report --json"
