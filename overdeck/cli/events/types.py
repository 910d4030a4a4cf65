"""``overdeck events types``."""

from overdeck.cli.output import JsonOption, verb
from overdeck.dispatch.clients import subject_key
from overdeck.dispatch.eventlog import CUSTOM, TOPICS, TYPES


def _fields(event: str) -> tuple[str, ...]:
    tool = ("tool",) if subject_key(event) else ()
    return (*tool, "sub", "in", *(("error",) if event == "StopFailure" else ()))


def types(as_json: JsonOption = False) -> None:
    """Show every type of event, when it is written, and the fields it has."""
    with verb("events.types", as_json) as out:
        rows: list[tuple[str, str, tuple[str, ...]]] = [
            *((type, f"the client: {event}", _fields(event)) for event, type in TOPICS.items()),
            *((type, "a module", fields) for type, fields in TYPES.items()),
        ]
        out.data = {"types": [{"type": type, "when": when, "fields": list(fields)} for type, when, fields in rows]}
        out.table(
            ["type", "written by", "fields"], [[type, when, ", ".join(fields)] for type, when, fields in rows]
        )
        out.line(f"{CUSTOM}… is for modules of your own (emit of overdeck.dispatch.eventlog), with any fields.")
