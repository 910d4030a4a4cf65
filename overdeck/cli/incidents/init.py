"""``od-incidents init``: make a registry, in the open."""

import os
from pathlib import Path

from overdeck.cli.incidents.options import RegistryOption
from overdeck.cli.output import JsonOption, verb


def command(registry: RegistryOption = None, as_json: JsonOption = False) -> None:
    """Write a registry with the shipped taxonomy: incidents/ at the top of this git work tree, or --registry DIR.

    What is there already stays as it is.
    """
    with verb("incidents.init", as_json) as out:
        from overdeck.incidents.creating import create, git_top

        asked = registry or (
            Path(os.environ["OVERDECK_REGISTRY"]) if os.environ.get("OVERDECK_REGISTRY") else None
        )
        root = Path.cwd() / asked if asked else git_top(Path.cwd()) / "incidents"
        made = create(root)
        out.data = {"registry": str(made.root), "written": [str(path) for path in made.written]}
        if not made.written:
            out.line(f"{made.root} is a registry already; nothing was changed")
            return
        for path in made.written:
            out.line(f"wrote {path}")
        out.note("next: commit the folder, then od-incidents open --class CLASS --title …")
