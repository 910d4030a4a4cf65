"""The keeper of one run: cuts the network, keeps the time limit, and leaves no process behind.

A program of its own (``python -I -S keeper.py SPEC``), because it becomes subreaper: whatever the run starts, also in
a new session, is its descendant and is killed with it. It ends the run when its own standard input closes, so a
verifier that is killed takes the run with it. Only the standard library is imported.

SPEC is JSON: argv, env, cwd, deadline_s, report (a file descriptor). The report is JSON: exit (negative for a signal,
None where the run did not start or was ended), why (``""``, ``time``, ``gone`` or the reason it did not start) and
network (whether it had one).
"""

import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1
_NOTICE_S = 0.02
"""How soon the end of the run, or of the verifier, is noticed."""


def main(spec_text: str) -> None:
    """Run what ``spec_text`` says to its end and report."""
    spec = json.loads(spec_text)
    os.set_inheritable(spec["report"], False)
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux":
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    alone = _can_cut_network(libc)
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        _become(spec, libc, tell, alone)
    os.close(tell)
    network, _, failure = os.fdopen(told).read().partition("\n")
    status, why = _wait(child, time.monotonic() + spec["deadline_s"])
    if status is None:
        _kill([child])
    _leave_nobody(child)
    exit_code = None if status is None or failure else os.waitstatus_to_exitcode(status)
    report = {"exit": exit_code, "why": failure or why, "network": network != "off"}
    os.write(spec["report"], json.dumps(report).encode())


def _become(spec: dict[str, object], libc: ctypes.CDLL, tell: int, alone: bool) -> NoReturn:
    """In the child: the program to run, or the reason why it does not start."""
    argv, env = spec["argv"], spec["env"]
    assert isinstance(argv, list)
    assert isinstance(env, dict)
    try:
        os.setsid()
        if sys.platform == "linux":
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.write(tell, b"off\n" if alone and _cut_network(libc) else b"on\n")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(str(spec["cwd"]))
        os.execvpe(argv[0], argv, env)
    except OSError as error:
        os.write(tell, f"{argv[0]}: {error.strerror}".encode())
    finally:
        os._exit(127)


def _can_cut_network(libc: ctypes.CDLL) -> bool:
    """Tried out in a process of its own: a system may allow the namespace and then refuse the user in it."""
    trial = os.fork()
    if trial == 0:
        try:
            os._exit(0 if _cut_network(libc) else 1)
        finally:
            os._exit(1)
    return os.waitpid(trial, 0)[1] == 0


def _cut_network(libc: ctypes.CDLL) -> bool:
    """Move into a network of our own that holds the loopback alone; False where this system does not let us."""
    if sys.platform != "linux":
        return False
    user, group = os.getuid(), os.getgid()
    try:
        if libc.unshare(_CLONE_NEWNET) != 0:
            if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
                return False
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    except OSError:
        return False
    return True


def _wait(child: int, deadline: float) -> tuple[int | None, str]:
    """The wait status of ``child``; None, and why, where its time is over or nobody waits for it any more."""
    while True:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    return ended[1], ""
        if time.monotonic() >= deadline:
            return None, "time"
        if select.select([0], [], [], _NOTICE_S)[0] and not os.read(0, 1):
            return None, "gone"


def _leave_nobody(child: int) -> None:
    """Kill every descendant, until there is none: orphans come to us, who are their subreaper."""
    if sys.platform != "linux":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        _kill(_descendants())
        time.sleep(0.001)  # what was killed takes a moment to be gone; the loop's own condition says when


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _descendants() -> list[int]:
    """Every process below this one, as /proc has it now; parents before their children."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            children.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(
                int(stat.parent.name)
            )
    found = [os.getpid()]
    for parent in found:
        found += children.get(parent, [])
    return found[1:]


if __name__ == "__main__":
    main(sys.argv[1])
