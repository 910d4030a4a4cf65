"""Writing files so that a crash leaves the old bytes or the new ones, never a mixture; taking turns at it; and reading
what others wrote, whatever stands at its path."""

import errno
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from overdeck.dispatch.kit import lock
from overdeck.errors import ExitCode, OverdeckError

LARGEST_BYTES = 2 * 1024 * 1024
"""Claude Code 2.1.197 drops a settings file of one byte more (measured); the largest seen in public has 51 kB."""

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def write_atomically(
    path: Path,
    content: bytes,
    *,
    mode: int = 0o600,
    like: Path | None = None,
    before_rename: Callable[[], None] | None = None,
) -> None:
    """Replace ``path`` by ``content``: temporary file in the same directory, fsync, rename, fsync of the folder.

    Parent folders are made (0700). A symlink is followed, so that the link survives and its target changes.
    ``like`` is a file whose owner, mode and extended attributes (access lists) the new one gets; without it the
    new one is ours, with ``mode``. ``before_rename`` may still refuse, by raising: it runs when everything else is
    done. Raises OSError, whose ``filename`` is never that of the temporary file.
    """
    target = path.resolve() if path.is_symlink() else path
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        fd, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        error.filename = str(target)
        raise
    try:
        with os.fdopen(fd, "wb") as out:
            out.write(content)
            out.flush()
            if like is None:
                os.fchmod(out.fileno(), mode)
            else:
                _take_after(out.fileno(), like)
            os.fsync(out.fileno())
        if before_rename is not None:
            before_rename()
        Path(temporary).replace(target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            error.filename = str(target)
        raise
    sync_folder(target.parent)


def _take_after(fd: int, like: Path) -> None:
    """Give the open file the owner, the mode and the extended attributes of another. Raises OSError."""
    there = like.stat()
    ours = os.fstat(fd)
    if (there.st_uid, there.st_gid) != (ours.st_uid, ours.st_gid):
        os.fchown(fd, there.st_uid, there.st_gid)
    os.fchmod(fd, stat.S_IMODE(there.st_mode))
    if sys.platform != "linux":
        return
    try:
        names = os.listxattr(like)
    except OSError:
        return  # a file system without them
    for name in names:
        os.setxattr(fd, name, os.getxattr(like, name))


def open_regular(path: Path) -> int:
    """A descriptor for reading the file ``path``, links followed. Raises OSError where it is none.

    Its ``strerror`` is a sentence's end ("it is a pipe, not a file").

    What git or a shared folder brings may be a pipe, on which a reader waits for ever, or a link to a device without
    end.
    """
    try:
        _check(path.stat().st_mode, path)  # before open: opening a device can do something
        # not blocking all the same: between the two lines anything may have taken its place
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError:  # a NUL in the path
        raise OSError(errno.EINVAL, "its path is none", str(path)) from None
    try:
        _check(os.fstat(fd).st_mode, path)
    except OSError:
        os.close(fd)
        raise
    return fd


def read_regular(path: Path, *, limit: int = LARGEST_BYTES) -> bytes:
    """The bytes of the file ``path``, at most ``limit``. Raises OSError as ``open_regular``, and where it is larger."""
    raw = read_start(path, limit + 1)
    if len(raw) > limit:
        raise OSError(errno.EFBIG, f"it is larger than {limit // 1024} KiB", str(path))
    return raw


def read_start(path: Path, most: int) -> bytes:
    """The first ``most`` bytes of the file ``path``, or all it has. Raises OSError as ``open_regular``."""
    with os.fdopen(open_regular(path), "rb", buffering=0) as file:
        chunks = []
        left = most
        while left and (chunk := file.read(min(left, 1 << 20))):
            chunks.append(chunk)
            left -= len(chunk)
    return b"".join(chunks)


def _check(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise OSError(errno.EINVAL, f"it is {kind}, not a file", str(path))


def obstacle(folder: Path) -> str:
    """Why no file can be made in ``folder``, itself made if need be: the path and the reason; empty where one can.

    A file system that is read-only is one even to root.
    """
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        return f"{there} cannot be written: Not a directory"
    if not os.access(there, os.W_OK | os.X_OK):
        return f"{there} cannot be written: it is not yours to write, or its file system is read-only"
    return ""


def sync_folder(folder: Path) -> None:
    """Have the names in ``folder`` on the disk: a file that was made or renamed survives a power cut only then."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def locked(path: Path, patience_s: float = 0.0, *, who: str) -> Iterator[None]:
    """Hold the lock file ``path``, made (0600) with its folder (0700) where it is not there.

    The lock ends with its process, however that ends. Raises OverdeckError (busy), "another ``who`` is at
    work", past ``patience_s`` seconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        take_lock(fd, path, patience_s, who=who)
        yield
    finally:
        os.close(fd)


def take_lock(fd: int, path: Path, patience_s: float, *, who: str, shared: bool = False) -> None:
    """Lock the open file ``fd``, which is ``path``; closing it unlocks. Raises OverdeckError (busy) as ``locked``."""
    try:
        lock.take(fd, patience_s, shared=shared)
    except TimeoutError:
        raise busy(
            f"another {who} is at work: it holds {path}",
            hint=f"run the command again; to see who holds it: fuser {path}",
        ) from None


def busy(message: str, *, hint: str = "wait a moment and run the command again") -> OverdeckError:
    """Somebody else is at work on it now: exit 75."""
    return OverdeckError(message, code="busy", exit_code=ExitCode.BUSY, hint=hint)


def back_up(path: Path, backups: Path) -> Path:
    """Copy ``path`` into ``backups`` under a name with the time in it; returns the copy's path."""
    copy = backups / f"{path.name}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.{time.time_ns() % 10**9:09d}"
    write_atomically(copy, path.read_bytes())
    return copy
