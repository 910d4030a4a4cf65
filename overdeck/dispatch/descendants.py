"""Everything below a process, found through /proc and killed: what a module has started dies with it (Linux)."""

from __future__ import annotations

import _signal
import posix

from overdeck.dispatch.plan import slurp


def kill(pid: int) -> None:
    """SIGKILL every process below ``pid``, those with a session of their own included (Linux /proc)."""
    for _ in range(20):
        below = _below(pid)
        if not below:
            return
        for child in below:
            try:
                posix.kill(child, _signal.SIGKILL)
            except OSError:
                continue
        if pid == posix.getpid():
            try:
                while posix.waitpid(-1, posix.WNOHANG)[0]:
                    continue
            except OSError:
                return


def _below(pid: int) -> list[int]:
    found: list[int] = []
    pending = [pid]
    while pending and len(found) < 4096:
        parent = pending.pop()
        try:
            threads = posix.listdir(f"/proc/{parent}/task")
        except OSError:
            continue
        for thread in threads:
            children = [
                child for child in _children(f"/proc/{parent}/task/{thread}/children") if not _zombie(child)
            ]
            found += children
            pending += children
    return found


def _children(path: str) -> list[int]:
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return []
    try:
        return [int(word) for word in slurp(fd).split()]
    except OSError:
        return []
    finally:
        posix.close(fd)


def _zombie(pid: int) -> bool:
    try:
        fd = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return True
    try:
        return slurp(fd).rpartition(b")")[2].split()[0] == b"Z"
    except OSError:
        return True
    finally:
        posix.close(fd)
