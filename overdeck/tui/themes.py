"""The themes: dark, light, high contrast, and one without any colour."""

from textual.filter import LineFilter, NoColor
from textual.theme import Theme

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
    return (NoColor(),) if name == NO_COLOUR else ()
