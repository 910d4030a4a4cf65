"""``od-incidents tui``."""

import os
import sys

from overdeck.cli.incidents.options import RegistryOption, find_registry
from overdeck.cli.output import verb
from overdeck.cli.theme import ThemeOption
from overdeck.errors import usage


def tui(registry: RegistryOption = None, theme: ThemeOption = None) -> None:
    """Show the incidents page: found as you type, with timeline, evidence and playbook; open, note, resolve, verify.

    Press ? for its keys. The same for programs, or without a terminal: od-incidents list --json
    """
    with verb("incidents.tui", False):
        here = find_registry(registry)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise usage(
                "the page needs a terminal, and standard input or output is none", hint="od-incidents list --json"
            )
        from overdeck.tui.app import run
        from overdeck.tui.surroundings import Surroundings

        run(
            Surroundings(dict(os.environ), registry=here.root if registry else None), only="incidents", theme=theme
        )
