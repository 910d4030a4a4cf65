"""``od-incidents reopen``: an incident that was thought to be over."""

import time
from typing import Annotated

import typer

from overdeck.cli.incidents.options import KeyOption, RegistryOption, find_registry
from overdeck.cli.incidents.reminding import remind
from overdeck.cli.output import JsonOption, verb


def reopen(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="The incident; the beginning of its id is enough.")],
    *,
    because: Annotated[
        str | None, typer.Option("--because", "--message", metavar="LINE", help="What shows that it is not over.")
    ] = None,
    key: KeyOption = None,
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open an incident again, with the reason. One that was seen again is better told with open: it counts it."""
    with verb("incidents.reopen", as_json) as out:
        from overdeck.incidents import noting, telling
        from overdeck.incidents.when import timestamp

        here = find_registry(registry)
        added = noting.reopen(here, wanted, because, timestamp(time.time()), key=key, warn=out.warn)
        out.data = {**added.incident.facts, "recorded": added.recorded}
        out.line(telling.reopened(added))
        if added.recorded:
            remind(out, here.log)
