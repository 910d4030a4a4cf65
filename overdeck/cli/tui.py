"""``overdeck tui``."""

import os
import sys

from overdeck.cli.output import verb
from overdeck.cli.theme import ThemeOption
from overdeck.errors import usage


def tui(theme: ThemeOption = None) -> None:
    """Show the pages: hooks, incidents, machine, bench (keys 1 to 4); sort, filter, act. Press ? there for the keys.

    The same for programs, or without a terminal: overdeck fires --json; every page names its own.
    """
    with verb("tui", False):
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise usage(
                "the page needs a terminal, and standard input or output is none", hint="overdeck fires --json"
            )
        from overdeck.tui.app import run
        from overdeck.tui.surroundings import Surroundings

        run(Surroundings(dict(os.environ)), theme=theme)
