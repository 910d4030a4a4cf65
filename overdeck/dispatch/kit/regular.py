"""Regular files, opened and read without ever being waited for: a pipe in the place of one would never end."""

from __future__ import annotations

import posix

_REGULAR = 0o10  # of a mode's type, as in S_IFREG


def opened(path: str, *, follow: bool = False, within: int | None = None) -> int:
    """The regular file ``path``, opened for reading, below the open folder ``within`` where that is given.

    ``follow`` follows a link at its end. Raises OSError, for what is no regular file as well; ValueError for what no
    file can be called.
    """
    links = 0 if follow else posix.O_NOFOLLOW
    fd = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC | links, dir_fd=within)
    if not is_regular(posix.fstat(fd)):
        posix.close(fd)
        raise OSError(f"{path} is no regular file")
    return fd


def start_of(fd: int, most: int) -> bytes:
    """The first ``most`` bytes of an open file, or all that it has."""
    raw = b""
    while len(raw) < most and (more := posix.read(fd, most - len(raw))):
        raw += more
    return raw


def is_regular(st: posix.stat_result) -> bool:
    """Whether what was looked at is a regular file."""
    return st.st_mode >> 12 == _REGULAR
