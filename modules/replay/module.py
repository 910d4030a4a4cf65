"""Starts what takes the spool of `capture` into its store (overdeck/capture), and is gone before it has begun.

A session start always does. The end of a turn or of a session does so where there is something to close: eight events,
or one that is twenty minutes old. Prompts and tool calls never start it.
"""

import posix
import sys
import time

import overdeck
from overdeck.dispatch.module import Call, Verdict

SEAM_EVENTS = 8
SEAM_S = 20 * 60


def evaluate(call: Call) -> Verdict | None:
    """Start a replay where it is worth one; whatever that finds is said by `overdeck capture status`."""
    state = call.overdeck_state
    if worth_it(f"{state}/modules/capture", start=call.event == "SessionStart"):
        entry = f"{overdeck.__path__[0]}/capture/entry.py"
        argv = [sys.executable, "-I", "-S", entry, state, str(call.config["keep_days"])]
        posix.posix_spawn(sys.executable, argv, {}, setsid=True)
    return None


def worth_it(folder: str, start: bool) -> bool:
    """Whether the spool holds enough: anything at a session start, else a batch's worth, or what is old or left."""
    try:
        if any(name.startswith("spool-") for name in posix.listdir(folder)):
            return True
        fd = posix.open(
            f"{folder}/spool.jsonl", posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
        )
    except OSError:
        return False
    try:
        head = posix.read(fd, 4096)
    finally:
        posix.close(fd)
    if start or not head:
        return bool(head)
    limit = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - SEAM_S)).encode()
    return head.count(b"\n") >= SEAM_EVENTS or len(head) == 4096 or head[7 : 7 + len(limit)] <= limit
