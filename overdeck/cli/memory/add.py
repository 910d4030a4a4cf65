"""``overdeck memory add``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def add(
    lesson: Annotated[str, typer.Argument(help="One line: a decision and why, a trap, what is left undone.")],
    session: Annotated[
        str,
        typer.Option("--session", metavar="ID", help="Whose it is; else the session of this shell or work tree."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Keep one line for the next session of this project; no model is asked, nothing is sent anywhere."""
    from pathlib import Path

    from overdeck.memory import keeping
    from overdeck.paths import Places

    with verb("memory.add", as_json) as out:
        project, kept = keeping.add(Places.from_environment(), Path.cwd(), lesson, session)
        out.data = {"project": project, "id": kept.id, "at": kept.at, "session": kept.session, "text": kept.text}
        out.line(f"kept for {project}: {kept.id}")
