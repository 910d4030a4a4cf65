"""Tells the user what the last look at the versions found, and has somebody look again where that is due.

The looking is done by a process of its own (dispatch/kit/updatecheck.py): this call only reads what the one before left
behind, so what changed since is told at the next session. Opens no connection: it does not know what was published.
"""

from overdeck.dispatch.kit import updatecheck
from overdeck.dispatch.module import Call, Verdict, tell

MAX_LETTERS = 500


def evaluate(call: Call) -> Verdict | None:
    """Tell what was found, if anything."""
    state = call.overdeck_state
    said = updatecheck.found(state).get("said")
    updatecheck.start(state)
    if not isinstance(said, str) or not said.strip():
        return None
    line = "".join(letter if letter.isprintable() else " " for letter in said)
    return tell(line if len(line) <= MAX_LETTERS else line[: MAX_LETTERS - 1] + "…")
