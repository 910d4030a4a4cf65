"""The last lines: the page's keys, the ones that can do nothing now dimmed; a click is a key."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from overdeck.tui.actions import Action

LINES = 2


def hints(actions: Sequence[tuple[Action, str | None]], width: int) -> Content:
    """As many whole hints as fit into ``LINES`` lines of ``width`` cells, dimmed where they can do nothing now."""
    lines: list[list[Content]] = [[]]
    left = width
    for action, reason in actions:
        key = action.keys.split(",")[0]
        needed = cell_len(key) + cell_len(action.title) + 3
        if needed > left:
            if len(lines) == LINES:
                break
            lines.append([])
            left = width
        left -= needed
        click = Style.from_meta({"@click": f"screen.act('{action.name}')"})
        dim = Style(dim=True) if reason else Style()
        lines[-1].append(
            Content.assemble((f" {key}", click + dim + Style(bold=not reason)), (f" {action.title} ", click + dim))
        )
    return Content("\n").join(Content.assemble(*line) for line in lines)


class KeyBar(Static):
    """Made anew whenever what can be done may have changed."""

    DEFAULT_CSS = """
    KeyBar {
        height: auto; max-height: 2; background: $panel; link-style: none; link-background: $panel;
        link-color: $foreground;
    }
    """

    _shown: tuple[list[tuple[Action, str | None]], int] = ([], 0)

    def show(self, actions: Sequence[tuple[Action, str | None]], width: int) -> None:
        """``width`` in cells. Nothing is drawn where nothing has changed."""
        shown = ([pair for pair in actions if pair[0].bar], width)
        if shown != self._shown:
            self._shown = shown
            self.update(hints(*shown))
