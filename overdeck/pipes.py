"""Named pipes: used like files, but never waiting without end for somebody at the other end."""

import errno
import os
import select
import stat
from pathlib import Path

from overdeck.errors import usage

WRITER_S = 5.0
"""How long a writer that was started together with us may take to open its end."""
_PIECE = 1 << 16


def read_to_end(path: Path, most: int = -1, *, wait_s: float = WRITER_S) -> bytes:
    """What the file or the pipe ``path`` holds, ``most`` bytes of it. OSError.

    OverdeckError (usage) where nobody writes to the pipe; who has opened its other end may take any time.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        first = _first(fd, path, wait_s) if stat.S_ISFIFO(os.fstat(fd).st_mode) else b""
        os.set_blocking(fd, True)
        with os.fdopen(fd, "rb", closefd=False) as file:
            return (first + file.read(most))[: None if most < 0 else most]
    finally:
        os.close(fd)


def _first(fd: int, path: Path, wait_s: float) -> bytes:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    if poll.poll(wait_s * 1000):  # it has been written to, or was closed again
        return b""
    try:
        first = os.read(fd, _PIECE)
    except BlockingIOError:  # a writer that has not said anything yet
        return b""
    if not first:
        raise usage(
            f"nobody writes to the pipe {path}",
            code="silent-pipe",
            hint="start what writes to it first, or give a regular file instead",
        )
    return first


def open_to_write(path: Path, mode: int = 0o666, *, flags: int = 0) -> int:
    """A descriptor of the file or the pipe ``path``, made with ``mode`` where it is not there.

    ``flags`` of open(2) say what becomes of what it holds. OSError; OverdeckError (usage) where nobody reads the pipe.
    """
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC | flags, mode)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise usage(
            f"nobody reads the pipe {path}",
            code="unread-pipe",
            hint="start what reads it first, or give a regular file instead",
        ) from None
    os.set_blocking(fd, True)
    return fd
