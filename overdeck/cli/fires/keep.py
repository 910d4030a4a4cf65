"""``overdeck fires keep``."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from overdeck.cli.fires.options import DEFAULT_SINCE, given
from overdeck.cli.output import JsonOption, verb
from overdeck.errors import not_found, usage
from overdeck.paths import Places


def keep(
    context: typer.Context,
    module_id: Annotated[str, typer.Argument(metavar="ID", help="A module's id.")],
    because: Annotated[str, typer.Option("--because", help="Why it stays although it is silent.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Take the word back.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Give a module your word that it stays: its verdict is then "exempt", with your reason and today's date."""
    _since, as_json = given(context, DEFAULT_SINCE, as_json)
    with verb("fires.keep", as_json) as out:
        from overdeck.authoring.inventory import find
        from overdeck.telemetry import keep as keep_list

        places = Places.from_environment()
        if undo:
            if not keep_list.let_go(places, module_id):
                raise not_found(f"nobody gave a word for {module_id}", hint="overdeck fires")
            out.data = {"id": module_id, "keep": None}
            out.line(f"{module_id} is judged like the others again")
            return
        find(places, module_id)
        if not because.strip():
            raise usage(
                f"why does {module_id} stay? Give the reason with --because",
                hint=f'overdeck fires keep {module_id} --because "…"',
            )
        word = keep_list.keep(places, module_id, because.strip(), datetime.now(UTC))
        file = keep_list.keep_file(places)
        out.data = {"id": module_id, "keep": {"because": word.because, "date": word.date}, "file": str(file)}
        out.line(f"{module_id} is exempt from now on: {word}")
        out.note(f"written to {file}; to take it back: overdeck fires keep {module_id} --undo")
