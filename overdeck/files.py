"""Writing files so that a crash leaves the old bytes or the new ones, never a mixture."""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path


def write_atomically(
    path: Path, content: bytes, *, mode: int = 0o600, before_rename: Callable[[], None] | None = None
) -> None:
    """Replace ``path`` by ``content``: temporary file in the same directory, fsync, rename, fsync of the folder.

    Parent folders are made (0700). A symlink is followed, so that the link survives and its target changes.
    ``before_rename`` may still refuse, by raising: it runs when everything else is done.
    """
    target = path.resolve() if path.is_symlink() else path
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fd, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(fd, "wb") as out:
            out.write(content)
            out.flush()
            os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
        if before_rename is not None:
            before_rename()
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def back_up(path: Path, backups: Path) -> Path:
    """Copy ``path`` into ``backups`` under a name with the time in it; returns the copy's path."""
    copy = backups / f"{path.name}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.{time.time_ns() % 10**9:09d}"
    write_atomically(copy, path.read_bytes())
    return copy
