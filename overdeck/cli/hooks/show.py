"""``overdeck hooks show``."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from overdeck.cli.output import JsonOption, Output, verb


def show(
    module_id: Annotated[str, typer.Argument(metavar="ID", help="A module's id.")],
    as_json: JsonOption = False,
) -> None:
    """Show one module: manifest, configuration in force, where its code is, how many cases test it."""
    from overdeck.authoring.inventory import describe, find
    from overdeck.paths import Places
    from overdeck.wiring.adopt.record import folder as certificates

    with verb("hooks.show", as_json) as out:
        places = Places.from_environment()
        found = find(places, module_id)
        data = describe(found.manifest, on=found.on)
        out.data = data
        out.line(f"{data['id']}: {data['summary']}")
        for name in ("pack", "class", "on", "main_only", "background", "timeout_ms", "lifetime_days", "folder"):
            out.line(f"  {name:14} {data[name]}")
        for event, matcher in data["events"].items():
            out.line(f"  {event:14} {matcher}")
        none = "(none: runs always)" if data["rules"] is None else "(no rule is on: in no plan)"
        out.line(f"  {'literals':14} {' '.join(data['literals']) or none}")
        if data["class"] == "adopted":
            _show_adopted(data["config"], certificates(places) / f"{data['id']}.json", out)
            return
        for key, value in data["config"].items():
            out.line(f"  config {key} = {value!r}")
        out.line(f"  {'matrix':14} {data['cases']} cases; run them: overdeck hooks test {data['id']}")


def _show_adopted(config: Mapping[str, Any], certificate: Path, out: Output) -> None:
    """What a person asks of an adopted hook; how its interpreter is set up is in ``--json``."""
    out.line(f"  {'starts':14} {config.get('shell') or shlex.join(config.get('command', []))}")
    out.line(f"  {'how':14} {'in a fork of the dispatcher' if 'script' in config else 'as a program, as before'}")
    out.line(f"  {'taken from':14} {config.get('file')}; back again: overdeck adopt --undo")
    if "project" in config:
        out.line(f"  {'only in':14} {config['project']}")
    out.line(f"  {'proof':14} {certificate}; replay it again: overdeck adopt --check")
