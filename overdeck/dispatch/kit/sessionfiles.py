"""Small files a module keeps about one session: a mark, or a few lines. Old sessions' files go when new ones come."""

from __future__ import annotations

import posix
import time

from overdeck.dispatch.plan import digest, opened
from overdeck.dispatch.writing import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overdeck.dispatch.module import Call

KEPT_S = 14 * 86_400
"""A file nobody wrote for so long belongs to a session that is over."""
MAX_FILES = 200
"""So many may lie about before it is worth looking for old ones."""


def path(call: Call, name: str) -> str:
    """Where the file ``name`` of this call's session is, in the module's state folder."""
    return f"{call.state}/{digest(f'{call.session} {name}'.encode('utf-8', 'replace'))}"


def mark(call: Call, name: str) -> bool:
    """Whether ``name`` was not marked in this session before; from now on it is, whoever asks at the same time."""
    try:
        posix.close(
            posix.open(path(call, name), posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
        )
    except FileExistsError:
        return False
    prune(call.state)
    return True


def read(call: Call, name: str) -> list[str]:
    """The lines of the file; none where there is no file."""
    try:
        fd = opened(path(call, name))
    except OSError:
        return []
    try:
        return posix.read(fd, 1 << 16).decode("utf-8", "replace").split("\n")[:-1]
    finally:
        posix.close(fd)


def locked(call: Call) -> int:
    """A descriptor that keeps other calls of this session waiting here, until it is closed or its process ends."""
    import fcntl  # few modules count

    fd = posix.open(path(call, "lock"), posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def write(call: Call, name: str, lines: list[str]) -> None:
    """Replace the file by these lines; raises OSError, and the old ones stay."""
    replace(path(call, name), "".join(line + "\n" for line in lines).encode("utf-8", "replace"), lasting=False)
    prune(call.state)


def prune(folder: str) -> None:
    """Let the oldest go where there are many."""
    names = posix.listdir(folder)
    if len(names) <= MAX_FILES:
        return
    for name in names:
        try:
            if time.time() - posix.stat(f"{folder}/{name}").st_mtime > KEPT_S:
                posix.unlink(f"{folder}/{name}")
        except OSError:
            continue
