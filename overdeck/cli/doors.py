"""The three commands a user types, each a list of its verbs."""

import sys
from typing import Annotated

import typer

from overdeck import __version__
from overdeck.cli.running import run


def overdeck() -> None:
    """Entry point of ``overdeck``."""
    from overdeck.cli.overdeck import app

    run(app, "overdeck")


def hookbench() -> None:
    """Entry point of ``hookbench``."""
    from overdeck.cli.bench import app

    run(app, "hookbench")


def od_incidents() -> None:
    """Entry point of ``od-incidents``."""
    from overdeck.cli.incidents import app

    run(app, "od-incidents", family="incidents.")


def group(help_text: str) -> typer.Typer:
    """A Typer application with the habits of all of ours: help on no arguments, no completion installer."""
    return typer.Typer(help=help_text, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def door(help_text: str) -> typer.Typer:
    """A ``group`` that is a command of its own: it has ``--version`` as well."""
    app = group(help_text)

    @app.callback()
    def options(
        version: Annotated[
            bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version and exit.")
        ] = False,
    ) -> None:
        pass

    return app


def _version(context: typer.Context, wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"{context.find_root().info_name} {__version__}\n")
        raise typer.Exit
