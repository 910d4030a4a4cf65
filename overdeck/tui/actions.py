"""The actions of a page: one registry from which keys, the key bar, the help and the command palette are made."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from textual.binding import Binding

NAMES = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "escape": "esc",
    "ctrl+p": "^p",
    "ctrl+c": "^c",
    "greater_than_sign": ">",
    "less_than_sign": "<",
}
"""Textual's names of keys that people call otherwise."""


def always(_page: Any) -> str | None:
    """The availability of an action that can always be done."""
    return None


@dataclass(frozen=True)
class Action:
    """``name``: the page's method is ``do_<name>``. ``key``: Textual's, several with commas, "" for the palette alone.

    ``title``: one or two words for key bar and palette. ``help``: what it does, a sentence without its full stop.
    ``available``: given the page, None where it can be done, else why not and what to do. ``bar``: shown in the
    key bar, where there is room.
    """

    name: str
    key: str
    title: str
    help: str
    available: Callable[[Any], str | None] = always
    bar: bool = True

    @property
    def keys(self) -> str:
        """The keys as people call them."""
        return ", ".join(NAMES.get(key.strip(), key.strip()) for key in self.key.split(",") if key.strip())


def bindings(actions: Iterable[Action]) -> list[Binding]:
    """What Textual listens to. Every key always does something: what cannot be done says why."""
    return [
        Binding(
            action.key,
            f"act('{action.name}')",
            action.title,
            show=False,
            priority=action.name == "quit_now",
            tooltip=action.help,
        )
        for action in actions
        if action.key
    ]


FIRST = (
    Action("help", "question_mark", "Help", "Show every key of this page, and why some do nothing now"),
    Action("filter", "slash", "Filter", "Show only rows that contain what you type; enter keeps it, esc ends it"),
)
"""What every page can do, before its own actions."""

COMMON = (
    Action("clear_filter", "escape", "Clear", "Show all rows again", bar=False),
    Action(
        "next_sort", "s", "Sort", "Sort by the next column; a click on a header sorts by it", lambda p: p.no_table
    ),
    Action("flip_sort", "S", "Flip", "Sort the other way round", lambda p: p.no_table, bar=False),
    Action("refresh", "r", "Refresh", "Read everything again"),
    Action("pause", "p", "Pause", "Stop refreshing by itself, or go on", lambda p: p.no_timer),
    Action("copy", "c", "Copy", "Copy the selected row to the clipboard", lambda p: p.nothing_to_copy),
    Action("copy_twin", "y", "Copy command", "Copy the command that prints what is seen as JSON", bar=False),
    Action("page_hooks", "1", "Hooks", "Go to the hooks", lambda p: p.no_page("hooks"), bar=False),
    Action("page_incidents", "2", "Incidents", "Go to the incidents", lambda p: p.no_page("incidents"), bar=False),
    Action("page_machine", "3", "Machine", "Go to the machine", lambda p: p.no_page("machine"), bar=False),
    Action("page_bench", "4", "Bench", "Go to the benchmarks", lambda p: p.no_page("bench"), bar=False),
    Action("theme", "T", "Theme", "Dark, light, high contrast, no colour", bar=False),
    Action("palette", "ctrl+p,colon", "Palette", "Find an action by typing its name"),
    Action("quit", "q", "Quit", "Leave overdeck"),
    Action("quit_now", "ctrl+c", "Quit at once", "Leave overdeck, wherever you are", bar=False),
)
"""What every page can do, after them."""


def every(own: Sequence[Action]) -> tuple[Action, ...]:
    """A page's actions in the order of key bar, help and palette."""
    return (*FIRST, *own, *COMMON)
