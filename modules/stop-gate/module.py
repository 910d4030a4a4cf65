"""Keeps a turn that changed files from ending with one question, and lets the answer end it.

Counts work (rows of work-rows), not answers: running the check it asked for, or the next Stop, brings no second
question. It is stamped before it blocks; the bounds that it shares with checkpoint are overdeck.dispatch.kit.asking.
Asks nothing in OpenCode, which cannot keep a turn going; checkpoint does, and has the whole allowance there.
"""

from overdeck.dispatch.kit.asking import next_question
from overdeck.dispatch.module import Call, Verdict, keep_going


def evaluate(call: Call) -> Verdict | None:
    """Ask the next question when files were changed since the last one, and neither clock nor cap forbids it."""
    if call.payload.get("stop_hook_active") is True:
        return None  # this Stop ends the answer
    if call.client == "opencode":
        return None  # cannot keep a turn going: the owner would be told a question that is the model's
    question = next_question(
        call,
        "stop-gate",
        call.config["questions"],
        min_minutes=call.config["min_minutes"],
        most=call.config["max_per_session"],
        least_rows=1,
    )
    if not question:
        return None
    return keep_going(f"{question} (The owner silences this: overdeck hooks off --session {call.session})")
