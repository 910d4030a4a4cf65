"""``overdeck tui``."""

import sys

from overdeck.cli.output import verb
from overdeck.errors import usage
from overdeck.paths import Places


def tui() -> None:
    """Show the hooks page: modules, verdicts, last fires; sort, filter, refresh. Press ? there for its keys.

    The same for programs, or without a terminal: overdeck fires --json
    """
    with verb("tui", False):
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise usage(
                "the page needs a terminal, and standard input or output is none", hint="overdeck fires --json"
            )
        from overdeck.tui.app import run

        run(Places.from_environment())
