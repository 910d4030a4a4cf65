"""Bounds what a session spends on subagents, and refuses calls that the client would only fail on.

A call that names no ``subagent_type`` passes the list of types: a client that does not send the field would else
have no subagents at all. Counts calls that were let through; what the client then makes of them it does not see.
"""

import posix
import time

from overdeck.dispatch.kit.sessionfiles import locked, read, write
from overdeck.dispatch.module import Call, Verdict, deny


def evaluate(call: Call) -> Verdict | None:
    """Deny a subagent over a limit, of a denied kind, nested where that is off, or with ``resume``."""
    config = call.config
    denied = config["denied_types"]
    if not isinstance(denied, list) or not all(isinstance(name, str) for name in denied):
        raise ValueError("[modules.agent-guard] denied_types must be a list of names")
    kind = call.input.get("subagent_type")
    if isinstance(kind, str) and kind in denied:
        return deny(
            f"subagents of the kind {kind} are switched off here; use another kind, or do the work yourself"
        )
    if call.subagent and not config["nested"]:
        return deny(
            "a subagent starts no subagents here; do the work, and report what is left to whoever started you"
        )
    if call.input.get("resume"):
        return deny("the parameter resume is gone (Claude Code 2.1.77): go on with an agent through SendMessage")
    lock = locked(call)  # several subagents started in one message are several calls at once
    try:
        return _counted(call)
    finally:
        posix.close(lock)


def _counted(call: Call) -> Verdict | None:
    config = call.config
    now = time.time()
    starts = [float(line) for line in read(call, "starts")]
    recent = sum(1 for start in starts if now - start < 60)
    if config["per_minute"] and recent >= config["per_minute"]:
        return deny(
            f"{recent} subagents were started in the last minute (limit {config['per_minute']}): wait for them"
        )
    if config["per_session"] and len(starts) >= config["per_session"]:
        return deny(
            f"this session has started {len(starts)} subagents (limit {config['per_session']}): do the rest yourself, "
            "or ask the owner to raise [modules.agent-guard] per_session"
        )
    write(call, "starts", [str(start) for start in (*starts, now)])
    return None
