"""``od-incidents search``: find what happened before, by its symptoms."""

from typing import Annotated

import typer

from overdeck.cli.incidents.options import RegistryOption, find_registry
from overdeck.cli.output import JsonOption, verb
from overdeck.paths import Places


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What you see, in your own words.")],
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many of each.")] = 5,
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find classes of trouble and incidents by their words, the best fit first.

    Resolved incidents are included: they hold the fix.
    """
    with verb("incidents.search", as_json) as out:
        from overdeck.incidents import searching
        from overdeck.incidents.text import shown

        here = find_registry(registry)
        asked = " ".join(query)
        cache = Places.from_environment().cache
        found = searching.search(here, asked, cache=cache, warn=out.warn, limit=limit)
        out.data = {
            "query": asked,
            "classes": [{**one.facts, "score": round(one.score, 3)} for one in found.classes],
            "incidents": [{**one.facts, "score": round(score, 3)} for score, one in found.incidents],
        }
        if found.classes:
            classes = [
                (shown(one.facts["class"]), one.facts["severity"], shown(one.facts["title"]))
                for one in found.classes
            ]
            out.table(("class", "severity", "title"), classes, below="title")
        if found.incidents:
            out.line()
            incidents = [
                (one.id, one.state, shown(one.slug), one.last_at[:16].replace("T", " "), shown(one.title))
                for _, one in found.incidents
            ]
            out.table(("id", "state", "class", "last (UTC)", "title"), incidents, below="title")
        if found.classes:
            out.note(f"next: od-incidents playbook {shown(found.classes[0].facts['class'])}")
        else:
            out.note("no class fits; od-incidents coverage lists them all")
