"""The three commands a user types, each a list of its verbs."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, NamedTuple

import typer

from overdeck import __version__
from overdeck.cli.running import run


class Verb(NamedTuple):
    """One verb of a door: where its function or its group of verbs is (``module:attribute``).

    Named instead of imported, so that a command loads the verb that was typed and no other: twelve verbs
    that nobody asked for were a twelfth of an `overdeck audit` (docs/plans/interfaces.md).
    """

    name: str
    where: str
    panel: str | None = None
    hidden: bool = False


def overdeck() -> None:
    """Entry point of ``overdeck``."""
    from overdeck.cli.overdeck import HELP, VERBS

    run(door(HELP, VERBS, typed=_typed()), "overdeck")


def hookbench() -> None:
    """Entry point of ``hookbench``."""
    from overdeck.cli.bench import HELP, VERBS

    run(door(HELP, VERBS, typed=_typed()), "hookbench")


def od_incidents() -> None:
    """Entry point of ``od-incidents``."""
    from overdeck.cli.incidents import HELP, VERBS

    run(door(HELP, VERBS, typed=_typed()), "od-incidents", family="incidents.")


def _typed() -> str:
    return sys.argv[1] if len(sys.argv) > 1 else ""


def group(help_text: str) -> typer.Typer:
    """A Typer application with the habits of all of ours: help on no arguments, no completion installer."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )


def door(help_text: str, verbs: Sequence[Verb], *, typed: str = "") -> typer.Typer:
    """A ``group`` that is a command of its own: it has ``--version`` as well.

    It has the one verb that was ``typed``, or every verb where that is none of them (help, a misspelt one).
    """
    app = group(help_text)

    @app.callback()
    def options(
        version: Annotated[
            bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version and exit.")
        ] = False,
    ) -> None:
        pass

    for verb in [verb for verb in verbs if verb.name == typed] or verbs:
        module, _, attribute = verb.where.partition(":")
        found = getattr(import_module(module), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=verb.name, rich_help_panel=verb.panel, hidden=verb.hidden)
        else:
            app.command(verb.name, rich_help_panel=verb.panel, hidden=verb.hidden)(found)
    return app


def _version(context: typer.Context, wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"{context.find_root().info_name} {__version__}\n")
        raise typer.Exit
