"""``od-incidents show``: one incident, what happened to it and what proves its end."""

from typing import Annotated

import typer

from overdeck.cli.incidents.options import RegistryOption, find_registry
from overdeck.cli.output import JsonOption, verb


def show(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="The incident; the beginning of its id is enough.")],
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one incident: its class and playbook, its timeline, and its evidence with the verdict."""
    with verb("incidents.show", as_json) as out:
        from overdeck.incidents import story
        from overdeck.incidents.current import read

        found = find_registry(registry)
        state = read(found, out.warn).state
        incident = state.find(wanted)
        about = story.class_facts(found, incident, out.warn)
        out.data = {
            **incident.facts,
            **about,
            "recurring": incident.class_id in state.recurring,
            "linked": [
                {"id": other.id, "state": other.state, "title": other.title} for other in state.links(incident)
            ],
            "evidence": incident.evidence,
            "timeline": [dict(event.body) for event in incident.events],
        }
        for line in story.lines(incident, about, state):
            out.line(line)
