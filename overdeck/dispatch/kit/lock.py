"""The kernel's lock on a file, waited for with patience: it ends with its process, so that no kill leaves it behind."""

from __future__ import annotations

import posix
import time

_SHORTEST_S, _LONGEST_S = 0.001, 0.02


def held(path: str, patience_s: float) -> int:
    """Make the lock file ``path`` (0600) where there is none, and lock it; closing what is returned unlocks it.

    Raises OSError: TimeoutError where another process holds it past ``patience_s`` seconds.
    """
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW
    fd = posix.open(path, flags, 0o600)
    try:
        take(fd, patience_s)
    except BaseException:
        posix.close(fd)
        raise
    return fd


def take(fd: int, patience_s: float, *, shared: bool = False) -> None:
    """Lock an open file. Raises TimeoutError past ``patience_s`` seconds."""
    import fcntl  # most calls of who imports this lock nothing

    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    give_up = time.monotonic() + patience_s
    pause = _SHORTEST_S
    while True:
        try:
            return fcntl.flock(fd, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= give_up:
                raise TimeoutError(f"another process held the lock for more than {patience_s:g} s") from None
        time.sleep(pause)  # flock has no deadline of its own
        pause = min(pause * 1.5, _LONGEST_S)
