"""The three commands a user types, each a list of its verbs."""

import typer

from overdeck.cli.output import run


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


def door(help_text: str) -> typer.Typer:
    """A Typer application with the habits of all three: help on no arguments, no completion installer."""
    return typer.Typer(help=help_text, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
