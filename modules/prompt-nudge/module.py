"""Reminds a session that has kept no lesson yet (``overdeck memory add``), at a prompt, after a grace window.

Counted before it is said: a failure after that costs a reminder, never a second one. Whatever cannot be read or
written is silence.
"""

import time

from overdeck.dispatch.kit import memory
from overdeck.dispatch.kit.asking import FLOOR_S, is_off
from overdeck.dispatch.kit.sessionfiles import read, write
from overdeck.dispatch.module import Call, Verdict, advise


def evaluate(call: Call) -> Verdict | None:
    """Advise when the session has kept nothing and neither clock nor cap forbids it."""
    state = call.overdeck_state
    top = memory.checkout(call.cwd)
    if not call.session or not top:
        return None
    memory.point(state, top, call.session)
    if memory.has_kept(state, call.session) or is_off(state, call.session):
        return None
    try:
        return _reminder(call)
    except OSError:
        return None


def _reminder(call: Call) -> Verdict | None:
    now = time.time()
    try:
        since, said = (float(number) for number in read(call, "heard"))
    except ValueError:  # new, or damaged: heard now
        write(call, "heard", [str(now), "0"])
        return None
    wait = call.config["again_minutes" if said else "grace_minutes"] * 60
    if said >= call.config["max_per_session"] or since <= now < since + max(FLOOR_S, wait):
        return None
    write(call, "heard", [str(now), str(int(said) + 1)])
    off = (
        f" (The owner silences this: overdeck hooks off --session {call.session})"
        if memory.is_plain(call.session)
        else ""
    )
    return advise(
        "This session has kept nothing for the next one. If it has learned something that one must know, in one line: "
        f"{memory.command(call.session)}{off}"
    )
