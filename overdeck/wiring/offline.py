"""Running our own measuring code in a child process that has no network, where the kernel lets us, and ends whole.

Other people's hooks are started from there: a hook that calls out must not do so because somebody asked
what it costs, and what it leaves running must not go on when the answer is there, or when nobody waits for it any more.
Linux only: a new network namespace, for other users than root inside a new user namespace.

Two processes: the *worker* does the work; the *keeper* above it inherits every orphan (subreaper), and ends them all,
and the worker's temporary files, when the worker is done or we are gone, killed or interrupted.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_CHILD_SUBREAPER = 36

_LAST_S = 5.0
"""How long the keeper goes on ending processes: what starts new ones faster than that is left."""


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

    When this returns, and soon after this process was killed, nothing that ``work`` started is alive, in whatever
    session, and what it put into the temporary folder is gone. Raises ChildFailed where the network could not be
    taken away, or ``work`` raised.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    read_end, write_end = os.pipe()
    lifeline, ours = os.pipe()
    keeper = os.fork()
    if keeper == 0:
        os.close(read_end)
        os.close(ours)
        _keep(work, offline, lifeline, write_end)
    os.close(write_end)
    os.close(lifeline)
    try:
        with os.fdopen(read_end) as source:
            raw = source.read()
    finally:
        os.close(ours)  # whether it is done or we were interrupted: the keeper cleans up
        os.waitpid(keeper, 0)
    answer = json.loads(raw) if raw else {"error": "the measuring child was killed"}
    if "error" in answer:
        raise ChildFailed(answer["error"])
    return answer["result"]


def _keep(work: Callable[[], Any], offline: bool, lifeline: int, result: int) -> NoReturn:
    """The keeper: start the worker, wait for its end or for ours, and leave nothing."""
    folder = ""
    try:
        os.setsid()  # Ctrl-C is for the command, which then lets go of the lifeline
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        folder = tempfile.mkdtemp(prefix="overdeck-")
        worker = os.fork()
        if worker == 0:
            os.close(lifeline)
            _work(work, offline, folder, result)
        os.close(result)
        signal.signal(
            signal.SIGCHLD, signal.SIG_IGN
        )  # the kernel buries the orphans: a zombie looks alive to a hook
        _wait(worker, lifeline)
        _leave_nobody(worker)
    except BaseException as error:
        with suppress(OSError):
            os.write(result, json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


def _work(work: Callable[[], Any], offline: bool, folder: str, result: int) -> NoReturn:
    answer: dict[str, Any] = {}
    try:
        tempfile.tempdir = folder
        if offline:
            _leave_network()
        answer = {"result": work()}
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    finally:
        with os.fdopen(result, "w") as out:
            json.dump(answer, out)
        os._exit(0)


def _wait(worker: int, lifeline: int) -> None:
    """Until the worker has ended, or the other end of ``lifeline`` is closed."""
    watched = [lifeline]
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):
            watched.append(os.pidfd_open(worker))
    patience = None if len(watched) == 2 else 0.05
    while not select.select(watched, [], [], patience)[0]:
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return


def _leave_nobody(worker: int) -> None:
    """Kill everything below this process, until there is nothing."""
    with suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)
    until = time.monotonic() + _LAST_S
    while time.monotonic() < until:
        for pid in _below(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        time.sleep(0.005)  # what was killed takes a moment to be gone; the wait for children says when


def _below(pid: int) -> list[int]:
    """The descendants of a process, the deepest first; none where the kernel lists no children (macOS)."""
    found = []
    with suppress(OSError):
        for listing in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, listing.read_text().split()):
                found += [*_below(child), child]
    return found


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
