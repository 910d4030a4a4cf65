"""``od-incidents tui``."""

import os

import typer

from overdeck.cli.incidents.options import RegistryOption, find_registry
from overdeck.cli.output import verb
from overdeck.cli.streams import need_terminal
from overdeck.cli.theme import ThemeOption


def tui(registry: RegistryOption = None, theme: ThemeOption = None) -> None:
    """Show the incidents page: found as you type, with timeline, evidence and playbook; open, note, resolve, verify.

    Press ? for its keys. The same for programs, or without a terminal: od-incidents list --json
    """
    with verb("incidents.tui", False):
        here = find_registry(registry)
        need_terminal("od-incidents list --json")
        from overdeck.tui.app import run
        from overdeck.tui.surroundings import Surroundings
        from overdeck.tui.typable import off_path

        chosen = here.root if registry else None
        around = Surroundings(dict(os.environ), registry=chosen, folder=off_path(os.environ))
        raise typer.Exit(run(around, only="incidents", theme=theme))
