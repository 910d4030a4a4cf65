"""One incident as people read it: its class and playbook, its timeline, and its evidence with the verdict."""

from collections.abc import Iterator, Mapping
from typing import Any

from overdeck.errors import OverdeckError
from overdeck.incidents import playbook, taxonomy
from overdeck.incidents.current import Warn, read
from overdeck.incidents.fold import Incident, State
from overdeck.incidents.registry import Registry
from overdeck.incidents.text import shown

_LINKS = {"trailer": "named by its trailer", "call": "linked by the call that ran it"}


def told(registry: Registry, key: str) -> list[str]:
    """The lines on the incident of this key as the log has it now, and the page of its class. Raises OverdeckError."""
    warnings: list[str] = []
    state = read(registry, warnings.append).state
    incident = state.get(key)
    about = class_facts(registry, incident, warnings.append)
    found = list(lines(incident, about, state))
    if about["playbook"]:
        page = playbook.page(registry, taxonomy.load(registry.taxonomy).find(incident.class_id))
        found += ["", *page.text.splitlines()]
    return [*(f"warning: {warning}" for warning in warnings), *found]


def class_facts(registry: Registry, incident: Incident, warn: Warn) -> dict[str, Any]:
    """Type, severity and playbook; nothing, and a warning, where the taxonomy no longer knows the class."""
    try:
        known = taxonomy.load(registry.taxonomy).find(incident.class_id)
    except OverdeckError as error:
        warn(error.message)
        return {"type": None, "severity": None, "playbook": None, "machine_first": None}
    return {
        "type": known.type,
        "severity": known.severity,
        "playbook": str(registry.playbooks / known.playbook),
        "machine_first": known.machine_first,
    }


def lines(incident: Incident, about: Mapping[str, Any], state: State) -> Iterator[str]:
    """What people read of ``incident``, one of ``state``: ``about`` is its ``class_facts``."""
    recurring = incident.class_id in state.recurring
    seen = f"{incident.occurrences} occurrences" if incident.occurrences > 1 else "1 occurrence"
    yield f"{incident.id}  {incident.state}  {shown(incident.title)}"
    yield f"class     {shown(incident.slug)} ({shown(incident.class_id)}), severity {about['severity']}, {seen}"
    if incident.episodes > 1 or recurring:
        often = ", the class is recurring" if recurring else ""
        doubt = ", suspect: the build that saw it again is unknown" if incident.suspect else ""
        yield f"episodes  {incident.episodes}{often}{doubt}"
    if incident.old_builds:
        yield f"old build {incident.old_builds} of the occurrences, by sessions without the fix"
    if incident.merged:
        yield f"merged    {', '.join(incident.merged)}"
    for other in state.links(incident):
        yield f"linked    {other.id}  {other.state}  {shown(other.title)}"
    if about["playbook"]:
        first = ", the machine first" if about["machine_first"] else ""
        yield f"playbook  {about['playbook']}{first}"
    yield ""
    yield "timeline (UTC)"
    for event in incident.events:
        said = [
            f"{name}: {shown(str(event.body[name]))}"
            for name in ("summary", "because", "text", "session", "build", "recurrence")
            if name in event.body
        ]
        yield f"  {event.at[:19].replace('T', ' ')}  {shown(event.kind):14}  {shown(event.writer)}"
        for line in said:
            yield f"{' ' * 23}{line}"
    if incident.evidence:
        yield ""
        yield "evidence"
    for statement in incident.evidence:
        link = _LINKS.get(str(statement.get("linked_by")), "linked by somebody's word")
        yield shown(
            f"  {statement.get('verdict')}: {statement.get('artifact')}, {link}, in {statement.get('branch')} "
            f"at {str(statement.get('head'))[:12]}"
        )
        runs = statement.get("runs")
        for name, ran in runs.items() if isinstance(runs, dict) else ():
            facts = ran if isinstance(ran, dict) else {}
            words = facts.get("argv")
            command = " ".join(map(str, words)) if isinstance(words, list) else ""
            yield shown(f"    {name}: {facts.get('outcome')}, exit {facts.get('exit')}: {command}")
        yield shown(f"    checked {statement.get('at')} on {statement.get('host')} by {statement.get('verifier')}")
