"""``overdeck hooks show``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def show(
    module_id: Annotated[str, typer.Argument(metavar="ID", help="A module's id.")],
    as_json: JsonOption = False,
) -> None:
    """Show one module: manifest, configuration in force, where its code is, how many cases test it."""
    from overdeck.authoring.inventory import describe, find
    from overdeck.paths import Places

    with verb("hooks.show", as_json) as out:
        found = find(Places.from_environment(), module_id)
        data = describe(found.manifest, on=found.on)
        out.data = data
        out.line(f"{data['id']}: {data['summary']}")
        for name in ("pack", "class", "on", "main_only", "background", "timeout_ms", "lifetime_days", "folder"):
            out.line(f"  {name:14} {data[name]}")
        for event, matcher in data["events"].items():
            out.line(f"  {event:14} {matcher}")
        out.line(f"  {'literals':14} {' '.join(data['literals']) or '(none: runs always)'}")
        for key, value in data["config"].items():
            out.line(f"  config {key} = {value!r}")
        if data["class"] == "adopted":
            out.line(f"  {'proof':14} its certificate; replay it again: overdeck adopt --check")
            return
        out.line(f"  {'matrix':14} {data['cases']} cases; run them: overdeck hooks test {data['id']}")
