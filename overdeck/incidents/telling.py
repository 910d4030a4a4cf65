"""What became of a call, in words: every door says the same of the same."""

from typing import TYPE_CHECKING

from overdeck.incidents.text import shown

if TYPE_CHECKING:  # `od-incidents open` tells as well, and needs no verifier for it
    from overdeck.incidents.fold import Incident
    from overdeck.incidents.noting import Added
    from overdeck.incidents.opening import Opened
    from overdeck.incidents.resolving import Closed
    from overdeck.incidents.verifying import Verified

_MEANT = {
    "again": "it came back on a build that has the fix",
    "suspect": "it was seen again, and nobody can tell whether that session had the fix",
    "old-build": "seen on an old build, which has not got the fix yet",
    "before-the-end": "seen before its end",
}


def noted(added: "Added", key: str | None = None) -> str:
    if added.recorded:
        return f"{added.incident.id} noted"
    return f"{added.incident.id} has this note already (key {key}); nothing was written"


def reopened(added: "Added") -> str:
    incident = added.incident
    if added.recorded:
        return f"{incident.id} is open again (opened {incident.episodes} times)"
    return unchanged(incident)


def unchanged(incident: "Incident") -> str:
    return f"{incident.id} is {incident.state}; nothing was written"


def opened(seen: "Opened") -> str:
    incident = seen.incident
    if not seen.recorded:
        return f"{incident.id} has this already; nothing was written: {shown(incident.title)}"
    if seen.created:
        return f"{incident.id} opened: {incident.slug}: {shown(incident.title)}"
    if seen.recurrence is not None:
        return f"{incident.id} is {incident.state}: {_MEANT[seen.recurrence]}: {shown(incident.title)}"
    return f"{incident.id} is open already; counted as occurrence {incident.occurrences}: {shown(incident.title)}"


def before(seen: "Opened") -> list[str]:
    """Where what was done the last times is to be found."""
    return [f"it happened before: od-incidents show {name}" for name in seen.earlier]


def trailer(seen: "Opened") -> str:
    return f"the commit that fixes it has this line at the end of its message: {seen.trailer}"


def closed(one: "Closed") -> str:
    incident = one.incident
    proofs = ", ".join(f"{proof.get('artifact')} ({proof.get('verdict')})" for proof in incident.standing)
    already = "" if one.recorded else "already "
    return f"{incident.id} {already}{incident.state}{f': {proofs}' if proofs else ''}"


def doubts(one: "Closed") -> list[str]:
    """What speaks against evidence that was accepted."""
    name = one.incident.id
    return [
        f"{ref} ended {name} before, and it came back: is it the fix? od-incidents show {name}"
        for ref in one.disproved
    ]


def verified(one: "Verified") -> str:
    return f"{one.incident.id} {one.verdict}: {one.incident.state}"


def losses(one: "Verified") -> list[str]:
    """What no longer holds, or could not be checked, of one incident's evidence, and why."""
    from overdeck.incidents.verifying import LOST, UNKNOWN

    told = []
    for check in one.checks:
        name = check.artifact or "no artifact"
        if check.verdict == LOST:
            told.append(f"EVIDENCE LOST: {one.incident.id}: {name}: {check.why}")
        elif check.verdict == UNKNOWN:
            told.append(f"{one.incident.id}: {name} could not be checked, nothing changed: {check.why}")
    return told
