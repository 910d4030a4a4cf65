"""Asks the model one question in the middle of a task, after every so many edits of files.

It only advises: no edit waits for the answer. Re-armed by work (rows of work-rows), not by answers; stamped before it
is said, so that a burst of parallel edits brings one question. Bounds: overdeck.dispatch.kit.asking.
"""

from overdeck.dispatch.kit.asking import next_question
from overdeck.dispatch.module import Call, Verdict, advise


def evaluate(call: Call) -> Verdict | None:
    """Ask the next question when enough was edited since the last one, and neither clock nor cap forbids it."""
    question = next_question(
        call,
        "checkpoint",
        call.config["questions"],
        min_minutes=call.config["min_minutes"],
        most=call.config["max_per_session"],
        least_rows=max(1, call.config["every_edits"]),
    )
    if not question:
        return None
    return advise(f"{question} (The owner silences this: overdeck hooks off --session {call.session})")
