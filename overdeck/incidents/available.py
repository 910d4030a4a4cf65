"""What can be done to an incident as it is now, and why not: known before anything is asked or typed."""

from overdeck.errors import OverdeckError, usage
from overdeck.incidents.fold import OPEN, RESOLVED, Incident
from overdeck.incidents.telling import unchanged

NOTE, RESOLVE, REOPEN, VERIFY = ("note", "resolve", "reopen", "verify")
"""What can be done to one incident."""


def why_not(action: str, incident: Incident) -> str:
    """Why ``action`` would change nothing of ``incident``, in the words in which it would be refused; empty where it
    would. What depends on what is handed in with it is only known when that is."""
    if action == VERIFY:
        refused = refusal_to_verify(incident)
        return "" if refused is None else refused.message
    if action == REOPEN and not may_reopen(incident):
        return unchanged(incident)
    return ""


def may_reopen(incident: Incident) -> bool:
    """Whether it is over, or open on a suspicion only, which somebody may confirm."""
    return incident.state != OPEN or incident.suspect


def refusal_to_verify(incident: Incident) -> OverdeckError | None:
    """Why ``incident`` cannot be verified; None where it can."""
    if incident.state == RESOLVED:
        return None
    return usage(
        f"{incident.id} is {incident.state}: there is no evidence that holds it closed",
        code="not-resolved",
        hint=f"od-incidents show {incident.id}",
    )
