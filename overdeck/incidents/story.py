"""One incident as people read it: its class and playbook, its timeline, and its evidence with the verdict."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.errors import OverdeckError
from overdeck.incidents import playbook, taxonomy
from overdeck.incidents.current import Warn
from overdeck.incidents.event import Event
from overdeck.incidents.fold import Incident, State
from overdeck.incidents.registry import Registry
from overdeck.incidents.text import shown

_LINKS = {"trailer": "named by its trailer", "call": "linked by the call that ran it"}
_SAID = ("summary", "because", "text", "session", "build", "recurrence")


class Told(NamedTuple):
    """Everything about one incident, part by part."""

    incident: Incident
    facts: tuple[str, ...]
    timeline: tuple[str, ...]
    evidence: tuple[str, ...]
    """Empty where nothing has proven its end, or there is no end."""
    page: str
    """The playbook of its class, in Markdown; empty where there is none."""
    warnings: tuple[str, ...]


def told(registry: Registry, state: State, key: str) -> Told | None:
    """The incident of this key in ``state``, and the page of its class; None where ``state`` has no such incident."""
    warnings: list[str] = []
    if not state.has(key):
        return None
    incident = state.get(key)
    about = class_facts(registry, incident, warnings.append)
    page = ""
    if about["playbook"]:
        about["playbook"] = Path(about["playbook"]).name
        try:
            page = playbook.page(registry, taxonomy.load(registry.taxonomy).find(incident.class_id)).text
        except OverdeckError as error:
            warnings.append(f"{error.message}; {error.hint}")
    return Told(
        incident,
        tuple(_facts(incident, about, state)),
        tuple(_timeline(incident)),
        tuple(_evidence(incident)),
        page,
        tuple(warnings),
    )


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
    yield from _facts(incident, about, state)
    yield ""
    yield "timeline (UTC)"
    for line in _timeline(incident):
        yield f"  {line}"
    if incident.evidence:
        yield ""
        yield "evidence"
    for line in _evidence(incident):
        yield f"  {line}"


def _facts(incident: Incident, about: Mapping[str, Any], state: State) -> Iterator[str]:
    recurring = incident.class_id in state.recurring
    seen = f"{incident.occurrences} occurrences" if incident.occurrences > 1 else "1 occurrence"
    yield f"{incident.id}  {incident.state}  {shown(incident.title)}"
    severity = about["severity"] or "unknown"
    yield f"class     {shown(incident.slug)} ({shown(incident.class_id)}), severity {severity}, {seen}"
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


def _timeline(incident: Incident) -> Iterator[str]:
    for event in incident.events:
        yield f"{event.at[:19].replace('T', ' ')}  {shown(event.kind):14}  {shown(event.writer)}"
        for name in _SAID:
            if name in event.body:
                yield f"{' ' * 21}{name}: {shown(str(event.body[name]))}"
        for artifact, why in _lost(event):
            yield f"{' ' * 21}lost: {shown(artifact)}: {shown(why)}"


def _lost(event: Event) -> Iterator[tuple[str, str]]:
    """What an ``evidence-lost`` event says is gone, and why; logs are merged from elsewhere, so it may be anything."""
    rows = event.body.get("lost")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            yield str(row.get("artifact") or "no artifact"), str(row.get("why", ""))


def _evidence(incident: Incident) -> Iterator[str]:
    standing = [str(one.get("artifact")) for one in incident.standing]
    for statement in incident.evidence:
        link = _LINKS.get(str(statement.get("linked_by")), "linked by somebody's word")
        yield shown(
            f"{statement.get('verdict')}: {statement.get('artifact')}, {link}, in {statement.get('branch')} "
            f"at {str(statement.get('head'))[:12]}"
        )
        runs = statement.get("runs")
        for name, ran in runs.items() if isinstance(runs, dict) else ():
            facts = ran if isinstance(ran, dict) else {}
            words = facts.get("argv")
            command = " ".join(map(str, words)) if isinstance(words, list) else ""
            yield shown(f"  {name}: {facts.get('outcome')}, exit {facts.get('exit')}: {command}")
            output = facts.get("output")
            if isinstance(output, dict):
                size, digest = output.get("bytes"), str(output.get("sha256"))[:12]
                yield shown(f"    output: {size} bytes, sha256 {digest}…; the log keeps no more of it")
        yield shown(f"  checked {statement.get('at')} on {statement.get('host')} by {statement.get('verifier')}")
        if str(statement.get("artifact")) not in standing:
            yield "  of an earlier end: it was opened again after it"
