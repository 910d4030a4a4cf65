"""The themes: dark, light, high contrast, and one without any colour."""

import re

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter, NoColor
from textual.theme import Theme

from overdeck.incidents.text import UNPRINTABLE

NO_COLOUR = "no-colour"

THEMES = (
    Theme(
        name="dark",
        primary="#5aa9e6",
        secondary="#3d6f96",
        accent="#ffb454",
        warning="#ffb454",
        error="#ff6b81",
        success="#7bd88f",
        foreground="#e4e4e4",
        background="#15181c",
        surface="#1c2026",
        panel="#272d35",
    ),
    Theme(
        name="light",
        primary="#004f8a",
        secondary="#2f6f9f",
        accent="#8a4b00",
        warning="#8a4b00",
        error="#a8102c",
        success="#1b6b2f",
        foreground="#1c1c1c",
        background="#fbfbf9",
        surface="#f1f1ee",
        panel="#e2e2dd",
        dark=False,
        variables={"block-cursor-foreground": "#ffffff", "footer-key-foreground": "#004f8a"},
    ),
    Theme(
        name="high-contrast",
        primary="#ffff00",
        secondary="#00ffff",
        accent="#00ffff",
        warning="#ffff00",
        error="#ff8080",
        success="#80ff80",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#000000",
        text_alpha=1.0,
        variables={
            "block-cursor-foreground": "#000000",
            "block-cursor-background": "#ffff00",
            "border": "#ffffff",
            "border-blurred": "#ffffff",
        },
    ),
    Theme(
        name=NO_COLOUR,
        primary="#ffffff",
        secondary="#ffffff",
        accent="#ffffff",
        warning="#ffffff",
        error="#ffffff",
        success="#ffffff",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#000000",
        variables={
            "block-cursor-text-style": "reverse",
            "block-cursor-blurred-text-style": "reverse",
            "input-cursor-text-style": "reverse",
        },
    ),
)

NAMES = tuple(theme.name for theme in THEMES)


def after(name: str) -> str:
    """The theme that follows, round and round."""
    return NAMES[(NAMES.index(name) + 1) % len(NAMES)] if name in NAMES else NAMES[0]


def filters(name: str) -> tuple[LineFilter, ...]:
    """What the screen's lines pass through under that theme: without colour, not even a grey is written."""
    return (_HARMLESS, _COLOURLESS) if name == NO_COLOUR else (_HARMLESS,)


class Harmless(LineFilter):
    """Whatever a page shows of a file, a log or a process: no control code of it reaches the terminal.

    Here, and not where each text is made: every widget, window, passing word and page of a playbook comes by. The line
    stays as wide as it was: most of these characters have no width.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if all(text.isprintable() for text, _style, _control in segments):
            return segments
        return [
            segment if segment.control else Segment(UNPRINTABLE.sub(_mark, segment.text), segment.style)
            for segment in segments
        ]


def _mark(found: re.Match[str]) -> str:
    return "\ufffd" * cell_len(found[0])


# One of each: what a line looks like behind a filter is kept by the filter's identity.
_HARMLESS, _COLOURLESS = Harmless(), NoColor()
