"""``od-incidents show``: one incident, what happened to it and what proves its end."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from overdeck.cli.incidents.options import RegistryOption, find_registry
from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import OverdeckError

if TYPE_CHECKING:
    from overdeck.incidents.fold import Incident, State
    from overdeck.incidents.registry import Registry

_LINKS = {"trailer": "named by its trailer", "call": "linked by the call that ran it"}


def show(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="The incident; the beginning of its id is enough.")],
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one incident: its class and playbook, its timeline, and its evidence with the verdict."""
    with verb("incidents.show", as_json) as out:
        from overdeck.incidents.current import read

        found = find_registry(registry)
        state = read(found, out.warn).state
        incident = state.find(wanted)
        about = _class_facts(out, found, incident)
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
        if not as_json:
            _print(out, incident, about, state)


def _class_facts(out: Output, registry: "Registry", incident: "Incident") -> dict[str, Any]:
    """Type, severity and playbook; nothing, and a warning, where the taxonomy no longer knows the class."""
    from overdeck.incidents import taxonomy

    try:
        known = taxonomy.load(registry.taxonomy).find(incident.class_id)
    except OverdeckError as error:
        out.warn(error.message)
        return {"type": None, "severity": None, "playbook": None, "machine_first": None}
    return {
        "type": known.type,
        "severity": known.severity,
        "playbook": str(registry.playbooks / known.playbook),
        "machine_first": known.machine_first,
    }


def _print(out: Output, incident: "Incident", about: dict[str, Any], state: "State") -> None:
    from overdeck.incidents.text import shown

    recurring = incident.class_id in state.recurring
    seen = f"{incident.occurrences} occurrences" if incident.occurrences > 1 else "1 occurrence"
    out.line(f"{incident.id}  {incident.state}  {shown(incident.title)}")
    out.line(
        f"class     {shown(incident.slug)} ({shown(incident.class_id)}), severity {about['severity']}, {seen}"
    )
    if incident.episodes > 1 or recurring:
        often = ", the class is recurring" if recurring else ""
        doubt = ", suspect: the build that saw it again is unknown" if incident.suspect else ""
        out.line(f"episodes  {incident.episodes}{often}{doubt}")
    if incident.old_builds:
        out.line(f"old build {incident.old_builds} of the occurrences, by sessions without the fix")
    if incident.merged:
        out.line(f"merged    {', '.join(incident.merged)}")
    for other in state.links(incident):
        out.line(f"linked    {other.id}  {other.state}  {shown(other.title)}")
    if about["playbook"]:
        first = ", the machine first" if about["machine_first"] else ""
        out.line(f"playbook  {about['playbook']}{first}")
    out.line()
    out.line("timeline (UTC)")
    for event in incident.events:
        told = [
            f"{name}: {shown(str(event.body[name]))}"
            for name in ("summary", "because", "text", "session", "build", "recurrence")
            if name in event.body
        ]
        out.line(f"  {event.at[:19].replace('T', ' ')}  {shown(event.kind):14}  {shown(event.writer)}")
        for line in told:
            out.line(f"{' ' * 23}{line}")
    if incident.evidence:
        out.line()
        out.line("evidence")
    for statement in incident.evidence:
        link = _LINKS.get(str(statement.get("linked_by")), "linked by somebody's word")
        out.line(
            shown(
                f"  {statement.get('verdict')}: {statement.get('artifact')}, {link}, in {statement.get('branch')} "
                f"at {str(statement.get('head'))[:12]}"
            )
        )
        runs = statement.get("runs")
        for name, ran in runs.items() if isinstance(runs, dict) else ():
            facts = ran if isinstance(ran, dict) else {}
            words = facts.get("argv")
            command = " ".join(map(str, words)) if isinstance(words, list) else ""
            out.line(shown(f"    {name}: {facts.get('outcome')}, exit {facts.get('exit')}: {command}"))
        out.line(
            shown(f"    checked {statement.get('at')} on {statement.get('host')} by {statement.get('verifier')}")
        )
