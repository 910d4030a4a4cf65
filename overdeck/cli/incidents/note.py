"""``od-incidents note``: write something down on an incident."""

import time
from typing import Annotated

import typer

from overdeck.cli.incidents.options import KeyOption, RegistryOption, find_registry
from overdeck.cli.incidents.reminding import remind
from overdeck.cli.output import JsonOption, verb


def note(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="The incident; the beginning of its id is enough.")],
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="What is to be remembered; quotes are not needed.")
    ] = None,
    *,
    link: Annotated[
        str | None, typer.Option("--link", metavar="ID", help="Another incident that it has to do with.")
    ] = None,
    message: Annotated[str | None, typer.Option("--message", hidden=True)] = None,
    key: KeyOption = None,
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a note on an incident: what was seen, tried or ruled out. It changes no state."""
    with verb("incidents.note", as_json) as out:
        from overdeck.incidents import noting, telling
        from overdeck.incidents.when import timestamp

        said = " ".join(text) if text else message or ""
        here = find_registry(registry)
        added = noting.note(here, wanted, said, timestamp(time.time()), key=key, warn=out.warn, link=link)
        out.data = {**added.incident.facts, "recorded": added.recorded}
        out.line(telling.noted(added, key))
        if added.recorded:
            remind(out, here.log)
