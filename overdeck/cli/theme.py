"""The option of both ``tui`` verbs; a test holds its names to those of ``overdeck.tui.themes``, which needs Textual."""

from enum import StrEnum
from typing import Annotated

import typer


class ThemeName(StrEnum):
    """What ``--theme`` may be."""

    dark = "dark"
    light = "light"
    high_contrast = "high-contrast"
    no_colour = "no-colour"


ThemeOption = Annotated[
    ThemeName | None,
    typer.Option("--theme", help="How it looks. Default: dark; with NO_COLOR in the environment, no-colour."),
]
