"""Tells a subagent what the start of the session told its parent and never reached it.

Silent for the agent types that the owner lists. A type that is absent, unknown or no text is told: with a client that
does not send the field, silence would be a module that is on and does nothing.
"""

from overdeck.dispatch.kit import memory
from overdeck.dispatch.kit.asking import is_off
from overdeck.dispatch.module import Call, Verdict, advise

MAX_LETTERS = 4000


def evaluate(call: Call) -> Verdict | None:
    """Advise every subagent but those of a listed type, and those of a session that was silenced."""
    silent, text = call.config["silent"], call.config["text"]
    if not isinstance(silent, list) or not all(isinstance(name, str) for name in silent):
        raise ValueError("[modules.subagent-brief] silent must be a list of agent types")
    if len(text) > MAX_LETTERS:
        raise ValueError(f"[modules.subagent-brief] text is over {MAX_LETTERS} letters")
    kind = call.payload.get("agent_type")
    if isinstance(kind, str) and (kind in silent or kind.rpartition(":")[2] in silent):
        return None  # whatever else it lacks, the request below could forbid the very thing it is for
    if is_off(call.overdeck_state, call.session):
        return None
    ask = (
        "If you learn what the next session of this project must know (a decision and why, a trap), keep it in one "
        f"line: {memory.command(call.session)}; without a shell, put it into your report. "
        "Ask the developer nothing about it."
    )
    return advise(f"{text.strip()}\n{ask}" if text.strip() else ask)
