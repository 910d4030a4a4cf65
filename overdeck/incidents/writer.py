"""Writing the log: one file per writer, appended to under a lock and on the disk before anyone is told.

A writer is one user in one folder on one host, so two clones on one host are two writers and a git merge never
meets two histories of one file.
"""

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from overdeck.errors import ExitCode, OverdeckError
from overdeck.files import sync_folder, take_lock

PATIENCE_S = 10.0
"""How long a writer waits for its turn; a turn is a few milliseconds (one read, one write, one fsync)."""

_WHO = "writer of this log"
# A link would take the events out of the registry, to whatever a merge has made it point at.
_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def writer_id(log: Path) -> str:
    """The writer that appends to ``log`` from here: ``HOST-HASH``, safe as a file name.

    Derived from the machine, the user and the folder's real path, so that it needs no file of its own, is the same
    in every process and differs between clones.
    """
    host = os.uname().nodename
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        machine = ""
    identity = "\0".join((host, machine, str(os.getuid()), str(log.resolve())))
    name = re.sub(r"[^a-z0-9]+", "-", host.lower().split(".")[0]).strip("-")[:32] or "host"
    return f"{name}-{hashlib.sha256(identity.encode(errors='surrogateescape')).hexdigest()[:10]}"


class Writer:
    """The right to append to one log file, held under its lock."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self.id = path.stem
        self._fd = fd

    def append(self, lines: Sequence[bytes]) -> None:
        """Append ``lines`` with one ``write`` and return once they are on the disk.

        A file that a killed writer left without its last newline gets one first, so the torn line stays alone.
        When the write fails or is cut short (disk full), the file is put back to its old length and OverdeckError
        is raised: nothing half-written is believed, and nothing was acknowledged.
        """
        size = os.fstat(self._fd).st_size
        torn = size > 0 and os.pread(self._fd, 1, size - 1) != b"\n"
        block = (b"\n" if torn else b"") + b"".join(line + b"\n" for line in lines)
        try:
            written = os.write(self._fd, block)
            if written != len(block):
                raise OSError(0, f"only {written} of {len(block)} bytes were written")
            os.fsync(self._fd)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._fd, size)
            raise _not_written(self.path, error.strerror) from None
        if not _same_file(self.path, self._fd):
            raise _not_written(self.path, "the file was replaced during the write, as a git checkout does")


@contextmanager
def writing(log: Path, patience_s: float = PATIENCE_S) -> Iterator[Writer]:
    """Hold this writer's file. Raises OverdeckError: busy (75) past ``patience_s``, not writable (70)."""
    path = log / f"{writer_id(log)}.jsonl"
    deadline = time.monotonic() + patience_s
    while True:
        try:
            log.mkdir(exist_ok=True)
            fd = os.open(path, _APPENDING, 0o644)
        except OSError as error:
            raise _not_written(path, error.strerror) from None
        try:
            try:
                take_lock(fd, path, deadline - time.monotonic(), who=_WHO)
            except OSError as error:  # a network file system without locks
                raise _not_written(path, error.strerror) from None
            if not _same_file(path, fd):
                continue
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise _not_written(path, "it is no regular file")
            if os.fstat(fd).st_size == 0:
                sync_folder(log)
            yield Writer(path, fd)
            return
        finally:
            os.close(fd)


@contextmanager
def shared(path: Path, patience_s: float = 1.0) -> Iterator[None]:
    """Read while no writer of ``path`` is at work; past ``patience_s`` go on without the lock."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OverdeckError, OSError):
            take_lock(fd, path, patience_s, who=_WHO, shared=True)
        yield
    finally:
        os.close(fd)


def _same_file(path: Path, fd: int) -> bool:
    """Whether ``path`` still is the file behind ``fd``: git replaces files by new ones."""
    held = os.fstat(fd)
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return (held.st_dev, held.st_ino) == (there.st_dev, there.st_ino)


def _not_written(path: Path, why: str | None) -> OverdeckError:
    return OverdeckError(
        f"nothing was recorded: {path} cannot be written: {why}",
        code="log-not-written",
        exit_code=ExitCode.USAGE,
        hint=f"check space and permissions (df {path.parent}; ls -ld {path.parent}), then run the command again",
    )
