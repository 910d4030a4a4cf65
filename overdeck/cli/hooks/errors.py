"""``overdeck hooks errors``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def errors(
    module_id: Annotated[str, typer.Argument(metavar="[ID]", help="One module; all when left out.")] = "",
    last: Annotated[int, typer.Option(help="How many of the newest to show.", min=1)] = 10,
    as_json: JsonOption = False,
) -> None:
    """Show why modules failed, newest last: crash, timeout or nonsense, with the frames it happened in."""
    from overdeck.authoring.failures import read_failures
    from overdeck.paths import Places

    with verb("hooks.errors", as_json) as out:
        found = read_failures(Places.from_environment(), module_id)
        shown = found[-last:]
        out.data = {"errors": [failure._asdict() for failure in shown], "total": len(found)}
        if not found:
            out.line("No module has failed" + (f" by the name {module_id!r}." if module_id else "."))
        elif len(found) > len(shown):
            out.line(f"({len(found) - len(shown)} older ones not shown: --last {len(found)})")
        for failure in shown:
            out.line(f"{failure.ts}  {failure.module}  {failure.event}: {failure.cause}")
            for frame in failure.trace.splitlines():
                out.line(f"    {frame}")
