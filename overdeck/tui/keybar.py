"""The last lines: the page's keys, the ones that can do nothing now dimmed; a click is a key."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from overdeck.tui.actions import Action

LINES = 2
LAST = "quit"
"""The action whose hint ends the bar, whatever else fits: how one gets out must be seen on every screen."""

Pair = tuple[Action, str | None]


def hints(actions: Sequence[Pair], width: int) -> Content:
    """As many whole hints as fit into ``LINES`` lines of ``width`` cells, dimmed where they can do nothing now.

    What does not fit stands behind ``?``.
    """
    last = [pair for pair in actions if pair[0].name == LAST]
    kept = sum(_cells(action) for action, _reason in last)
    lines: list[list[Pair]] = [[]]
    left = width
    for pair in (pair for pair in actions if pair[0].name != LAST):
        needed = _cells(pair[0])
        if needed > left and len(lines) < LINES:
            lines.append([])
            left = width
        if needed > left - (kept if len(lines) == LINES else 0):
            break
        left -= needed
        lines[-1].append(pair)
    if kept > left and len(lines) < LINES:
        lines.append([])
    lines[-1] += last
    return Content("\n").join(Content.assemble(*map(_hint, line)) for line in lines)


def _key(action: Action) -> str:
    return action.keys.split(",")[0]


def _cells(action: Action) -> int:
    return cell_len(_key(action)) + cell_len(action.title) + 3


def _hint(pair: Pair) -> Content:
    action, reason = pair
    click = Style.from_meta({"@click": f"screen.act('{action.name}')"})
    dim = Style(dim=True) if reason else Style()
    return Content.assemble(
        (f" {_key(action)}", click + dim + Style(bold=not reason)), (f" {action.title} ", click + dim)
    )


class KeyBar(Static):
    """Made anew whenever what can be done may have changed."""

    DEFAULT_CSS = """
    KeyBar {
        height: auto; max-height: 2; background: $panel; link-style: none; link-background: $panel;
        link-color: $foreground;
    }
    """

    _shown: tuple[list[Pair], int] = ([], 0)

    def show(self, actions: Sequence[Pair], width: int) -> None:
        """``width`` in cells. Nothing is drawn where nothing has changed."""
        shown = ([pair for pair in actions if pair[0].bar], width)
        if shown != self._shown:
            self._shown = shown
            self.update(hints(*shown))
