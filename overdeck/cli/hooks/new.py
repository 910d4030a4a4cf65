"""``overdeck hooks new``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def new(
    module_id: Annotated[str, typer.Argument(metavar="ID", help="The new module's id, like no-friday-deploys.")],
    event: Annotated[str, typer.Option(help="The event it needs: PreToolUse, PostToolUse, Stop, …")] = "",
    matcher: Annotated[str, typer.Option(help="The narrowest matcher that still sees its triggers.")] = "",
    cls: Annotated[str, typer.Option("--class", help="gate, adviser, rewriter or observer.")] = "",
    literal: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="A word every trigger contains; repeat for alternatives."),
    ] = None,
    always: Annotated[
        bool, typer.Option("--always", help="No literal exists: run on every matching call.")
    ] = False,
    summary: Annotated[str, typer.Option(help="One sentence: what it does for whom.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Walk the design ladder and write module.toml, module.py and matrix.jsonl of a new module."""
    from overdeck.authoring.scaffold import Design, scaffold
    from overdeck.paths import Places

    with verb("hooks.new", as_json) as out:
        design = Design(module_id, event, matcher, cls, tuple(literal or ()), always, summary)
        made = scaffold(Places.from_environment(), design)
        out.data = {"id": module_id, "files": [str(path) for path in made.files], "ladder": list(made.ladder)}
        for step in made.ladder:
            out.line(step)
        for path in made.files:
            out.line(f"wrote {path}")
        out.line("It is on from the next call of an event that is installed; it is only an example yet.")
        out.line(f"Next: write its logic and its cases, then: overdeck hooks test {module_id} && overdeck install")
