"""``overdeck memory forget``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def forget(
    id: Annotated[str, typer.Argument(help="The lesson, by its id or the beginning of it.")],
    as_json: JsonOption = False,
) -> None:
    """Take a lesson of this project out: no later session is told."""
    from pathlib import Path

    from overdeck.memory import keeping
    from overdeck.paths import Places

    with verb("memory.forget", as_json) as out:
        gone = keeping.forget(Places.from_environment(), Path.cwd(), id)
        out.data = {"id": gone.id, "at": gone.at, "session": gone.session, "text": gone.text}
        out.line(f"forgotten: {gone.id} {gone.text}")
