"""Running our own measuring code in a child process that has no network, where the kernel lets us.

Other people's hooks are started from there: a hook that calls out must not do so because somebody asked
what it costs. Linux only: a new network namespace, for other users than root inside a new user namespace.
"""

import ctypes
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000


class ChildFailed(RuntimeError):
    """The child ended without a result; the message is what it had to say."""


def can_isolate() -> bool:
    """Whether this machine gives us a process without a network. Tried in a child, which then ends."""
    try:
        return bool(run_in_child(lambda: True, offline=True))
    except ChildFailed:
        return False


def run_in_child(work: Callable[[], Any], *, offline: bool) -> Any:
    """Run ``work`` in a forked child, without a network if ``offline``; its result must be JSON.

    Raises ChildFailed where the network could not be taken away, or ``work`` raised.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        answer: dict[str, Any] = {}
        try:
            os.close(read_end)
            if offline:
                _leave_network()
            answer = {"result": work()}
        except BaseException as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        finally:
            with os.fdopen(write_end, "w") as out:
                json.dump(answer, out)
            os._exit(0)
    os.close(write_end)
    try:
        with os.fdopen(read_end) as source:
            raw = source.read()
    finally:
        os.waitpid(pid, 0)
    answer = json.loads(raw) if raw else {"error": "the measuring child was killed"}
    if "error" in answer:
        raise ChildFailed(answer["error"])
    return answer["result"]


def _leave_network() -> None:
    """Move this process into a network namespace of its own, with nothing in it. Raises OSError."""
    if sys.platform != "linux":
        raise OSError("network namespaces are a Linux thing")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) == 0:
        return
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "the kernel gives us no network namespace")
    # Inside, we are who we were: hooks must not believe that they are root.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
