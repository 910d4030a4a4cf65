"""``od-incidents list``: the incidents of a registry."""

import time
from enum import StrEnum
from typing import Annotated

import typer

from overdeck.cli.incidents.options import RegistryOption, find_registry
from overdeck.cli.output import JsonOption, verb
from overdeck.paths import Places


class StateName(StrEnum):
    """What ``--state`` may be."""

    open = "open"
    resolved = "resolved"
    wont_fix = "wont-fix"
    evidence_lost = "evidence-lost"
    all = "all"


class Order(StrEnum):
    """What ``--sort`` may be."""

    last = "last"
    seen = "seen"
    opened = "opened"
    class_name = "class"


def list_incidents(
    *,
    type_name: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only classes of this type, e.g. hooks-harness.")
    ] = None,
    class_name: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="Only this class: C033 or hook-timeout.")
    ] = None,
    state: Annotated[StateName, typer.Option("--state", help="Only incidents in this state.")] = StateName.open,
    since: Annotated[
        str | None, typer.Option("--since", metavar="AGE", help="Only what moved since: 7d, 12h or 2026-08-15.")
    ] = None,
    order: Annotated[
        Order,
        typer.Option("--sort", help="The last moved first, the most often seen, the last opened, or by class."),
    ] = Order.last,
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """List incidents, the one that moved last first. Without --state: the open ones."""
    with verb("incidents.list", as_json) as out:
        from overdeck.incidents import when
        from overdeck.incidents.current import overview
        from overdeck.incidents.listing import select
        from overdeck.incidents.text import shown

        found = find_registry(registry)
        class_ids: list[str] | None = None
        if type_name is not None or class_name is not None:
            from overdeck.incidents import taxonomy

            known = taxonomy.load(found.taxonomy)
            classes = known.classes if class_name is None else (known.find(class_name),)
            if type_name is not None:
                known.check_type(type_name)
                classes = tuple(one for one in classes if one.type == type_name)
            class_ids = [one.id for one in classes]
        start = when.since(since, time.time()) if since is not None else ""
        everything = overview(found, out.warn, Places.from_environment().cache)
        chosen = select(
            everything.incidents, state=state.value, class_ids=class_ids, since=start, order=order.value
        )
        if as_json:
            out.data = {
                "incidents": [one.facts for one in chosen],
                "total": len(everything.incidents),
                "recurring": sorted(everything.recurring),
            }
            return
        if chosen:
            rows = [
                (
                    one.id,
                    one.state,
                    shown(one.slug),
                    str(one.occurrences),
                    one.last_at[:16].replace("T", " "),
                    shown(one.title),
                )
                for one in chosen
            ]
            out.table(
                ("id", "state", "class", "seen", "last (UTC)", "title"), rows, right=("seen",), below="title"
            )
        if len(chosen) < len(everything.incidents):
            out.note(
                f"{len(chosen)} of {len(everything.incidents)} incidents shown; od-incidents list --state all"
            )
        elif not chosen:
            out.note(f"no incidents in {found.root}; od-incidents open --class CLASS --title … records one")
