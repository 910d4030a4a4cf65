"""``overdeck tui``."""

import os

import typer

from overdeck.cli.output import verb
from overdeck.cli.streams import need_terminal
from overdeck.cli.theme import ThemeOption


def tui(theme: ThemeOption = None) -> None:
    """Show the pages: hooks, incidents, machine, bench (keys 1 to 4); sort, filter, act. Press ? there for the keys.

    The same for programs, or without a terminal: overdeck fires --json; every page names its own.
    """
    with verb("tui", False):
        need_terminal("overdeck fires --json")
        from overdeck.tui.app import run
        from overdeck.tui.surroundings import Surroundings
        from overdeck.tui.typable import off_path

        raise typer.Exit(run(Surroundings(dict(os.environ), folder=off_path(os.environ)), theme=theme))
