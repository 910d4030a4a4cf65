"""``od-incidents playbook``: what to do about a class of trouble."""

from typing import Annotated

import typer

from overdeck.cli.incidents.options import RegistryOption, find_registry
from overdeck.cli.output import JsonOption, verb


def playbook(
    class_name: Annotated[str, typer.Argument(metavar="CLASS", help="C033 or hook-timeout.")],
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the page of a class: what it means, how to find the cause, what fixes it and what does not."""
    with verb("incidents.playbook", as_json) as out:
        from overdeck.incidents import taxonomy
        from overdeck.incidents.playbook import page

        here = find_registry(registry)
        known = taxonomy.load(here.taxonomy).find(class_name)
        found = page(here, known)
        out.data = {
            "class": known.slug,
            "class_id": known.id,
            "title": known.title,
            "severity": known.severity,
            "detector": known.detector,
            "machine_first": known.machine_first,
            "path": found.path,
            "text": found.text,
        }
        out.line(found.text.rstrip("\n"))
        if known.machine_first:
            out.note("the machine first: overdeck doctor")
