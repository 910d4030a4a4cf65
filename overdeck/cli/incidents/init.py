"""``od-incidents init``: make a registry, in the open."""

import os
from pathlib import Path

from overdeck.cli.incidents.options import RegistryOption
from overdeck.cli.incidents.reminding import commit_line
from overdeck.cli.output import JsonOption, verb


def init(registry: RegistryOption = None, as_json: JsonOption = False) -> None:
    """Write a registry with the shipped taxonomy: incidents/ at the top of this git work tree, or --registry DIR.

    What is there already stays as it is.
    """
    with verb("incidents.init", as_json) as out:
        from overdeck.git import top
        from overdeck.incidents.creating import create

        asked = registry or (
            Path(os.environ["OVERDECK_REGISTRY"]) if os.environ.get("OVERDECK_REGISTRY") else None
        )
        here = Path.cwd()
        root = here / asked if asked else top(here, hint="od-incidents init --registry DIR") / "incidents"
        made = create(root)
        out.data = {"registry": str(made.root), "written": [str(path) for path in made.written]}
        if not made.written:
            out.line(f"{made.root} is a registry already; nothing was changed")
            return
        pages = [path for path in made.written if path.parent.name == "playbooks"]
        for path in made.written:
            if path not in pages:
                out.line(f"wrote {path}")
        if pages:
            out.line(f"wrote {len(pages)} pages into {pages[0].parent}")
        commit_line(out, "next", made.root)
        out.note('what you saw has a class: od-incidents search "my guard is killed" names it, open records it')
