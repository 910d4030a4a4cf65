"""The files that `capture` appends to, and how they are taken away from under their writers: no line is lost, and no
writer waits.

The spool is renamed ("sealed"), so that the next writer makes a new one, and read under its new name. It is removed
only when nobody can write to it any more. Linux says so exactly: a read lease is granted on a file that no process has
open for writing. While it is held, a writer that had just found the old name is refused (EWOULDBLOCK) and looks again;
and whoever writes to a file that has lost its last name sees that and writes again (native/log.c, observing.py).
Elsewhere a sealed file is removed when it is old.
"""

import errno
import fcntl
import os
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CURRENT = "spool.jsonl"
SETTLED_S = 600
"""Without leases (macOS, NFS): a sealed file this old is taken to have no writers. A call lasts seconds."""
CHUNK = 1 << 20


def folder_of(state: Path) -> Path:
    """Where the module `capture` spools, in the state directory of a user."""
    return state / "modules" / "capture"


def sealed(folder: Path) -> list[Path]:
    """The files that were taken away and not removed yet, oldest first."""
    with suppress(OSError):
        return sorted(
            path for path in folder.iterdir() if path.name.startswith("spool-") and path.suffix == ".jsonl"
        )
    return []


def seal(folder: Path) -> None:
    """Take the current file away from its writers; nothing where there is none. Raises OSError."""
    current = folder / CURRENT
    try:
        looked = current.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISREG(looked.st_mode) and looked.st_size:
        current.rename(folder / f"spool-{time.time_ns():020d}-{os.getpid()}.jsonl")


class Sealed:
    """An open sealed file. ``settled``: nobody writes to it any more, so that it may go when its lines are kept."""

    def __init__(self, path: Path, fd: int, settled: bool) -> None:
        self.path = path
        self.fd = fd
        self.settled = settled

    def pieces(self) -> Iterator[bytes]:
        """All of it in pieces of whole lines. What is not ended may still be written, unless the file is settled."""
        rest = b""
        while chunk := os.read(self.fd, CHUNK):
            whole, ended, behind = chunk.rpartition(b"\n")
            if ended:
                yield rest + whole + ended
                rest = behind
            else:
                rest += chunk
            if len(rest) > CHUNK:  # no line of ours: nothing is worth holding so much of it
                yield rest
                rest = b""
        if rest and self.settled:
            yield rest

    def lines(self) -> Iterator[bytes]:
        """Its lines without their ends."""
        for piece in self.pieces():
            yield from piece.rstrip(b"\n").split(b"\n")


@contextmanager
def opened(path: Path, *, looking: bool = False) -> Iterator[Sealed]:
    """Open a sealed file; if it is settled, no writer gets in while it is open. Raises OSError for what is no file.

    ``looking`` only reads, which the file that is written now can be, too; it is never settled.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        yield Sealed(path, fd, not looking and _settled(fd, path))
    finally:
        os.close(fd)


def _settled(fd: int, path: Path) -> bool:
    if hasattr(fcntl, "F_SETLEASE"):
        try:
            fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)  # ignored by default; SIGIO would end us
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            return False  # a writer has it open
        except OSError:
            pass  # this file system has no leases
        else:
            return True
    try:
        sealed_ns = int(path.name.split("-")[1])
    except (IndexError, ValueError):
        return False
    return time.time_ns() - sealed_ns > SETTLED_S * 10**9
