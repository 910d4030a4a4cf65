"""What can be done to an incident as it is now, and why not: known before anything is asked or typed."""

from overdeck.incidents.fold import Incident
from overdeck.incidents.noting import Added, may_reopen
from overdeck.incidents.telling import reopened
from overdeck.incidents.verifying import refusal

NOTE, RESOLVE, REOPEN, VERIFY = ("note", "resolve", "reopen", "verify")
"""What can be done to one incident."""


def why_not(action: str, incident: Incident) -> str:
    """Why ``action`` would change nothing of ``incident``, in the words in which it would be refused; empty where it
    would. What depends on what is handed in with it is only known when that is."""
    if action == VERIFY:
        refused = refusal(incident)
        return "" if refused is None else refused.message
    if action == REOPEN and not may_reopen(incident):
        return reopened(Added(incident, recorded=False))
    return ""
