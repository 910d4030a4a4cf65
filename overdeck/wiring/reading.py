"""Reading files that others wrote, whatever stands at their path: never waits, never takes more than it was told to."""

import errno
import os
import stat
from pathlib import Path

LARGEST_BYTES = 2 * 1024 * 1024
"""Claude Code 2.1.197 drops a settings file of one byte more (measured); the largest seen in public has 51 kB."""

_NOWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_regular(path: Path, *, limit: int = LARGEST_BYTES) -> bytes:
    """The bytes of a regular file, symlinks followed. Never blocks: pipes, sockets, devices and folders are refused.

    Raises OSError, whose ``strerror`` is a sentence's end ("it is a pipe, not a file"); FileNotFoundError where
    nothing is there.
    """
    raw = read_start(path, limit + 1)
    if len(raw) > limit:
        raise OSError(errno.EFBIG, f"it is larger than {limit // 1024} KiB", str(path))
    return raw


def read_start(path: Path, most: int) -> bytes:
    """The first ``most`` bytes of a regular file, or all it has. Raises OSError as ``read_regular``."""
    try:
        _check(path.stat().st_mode, path)  # before open: opening a device can do something
        # not blocking all the same: between the two lines anything may have taken its place
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError:  # a NUL in the path
        raise OSError(errno.EINVAL, "its path is none", str(path)) from None
    with os.fdopen(fd, "rb", buffering=0) as file:
        _check(os.fstat(fd).st_mode, path)
        chunks = []
        left = most
        while left and (chunk := file.read(min(left, 1 << 20))):
            chunks.append(chunk)
            left -= len(chunk)
    return b"".join(chunks)


def present(path: Path) -> bool:
    """Whether anything stands at ``path``, readable or not, a broken link included."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True  # something keeps us from looking: reading it says what
    return True


def is_regular(path: Path | str) -> bool:
    """Whether a regular file is at ``path``, links followed. Any text may be a path: what cannot be one is none."""
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except (OSError, ValueError):  # too long, a loop of links, not ours to look at; a NUL
        return False


def missing(path: Path | str) -> bool:
    """Whether nothing can be at ``path``; False where something keeps us from knowing."""
    try:
        Path(path).stat()
    except OSError as error:
        return error.errno in _NOWHERE
    except ValueError:  # a NUL
        return True
    return False


def real(path: Path) -> Path:
    """``path`` with its links followed as far as they lead: a loop of them is no error, as it is to ``resolve``."""
    return Path(os.path.realpath(path))


def listed(folder: Path, *, most: int = 1000) -> list[Path]:
    """What is in ``folder``, by name, at most ``most`` entries; nothing where it is no folder or cannot be read."""
    found: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found.append(folder / entry.name)
                if len(found) == most:
                    break
    except (OSError, ValueError):
        return []
    return sorted(found)


def below(folder: Path, suffix: str, *, most: int = 1000, depth: int = 6) -> list[Path]:
    """The files below ``folder`` whose name ends in ``suffix``; links to folders are not followed, so no loop is."""
    found: list[Path] = []
    waiting = [(folder, depth)]
    while waiting and len(found) < most:
        here, left = waiting.pop()
        for path in listed(here):
            try:
                is_folder = stat.S_ISDIR(path.lstat().st_mode)
            except OSError:
                continue
            if is_folder and left:
                waiting.append((path, left - 1))
            elif not is_folder and path.name.endswith(suffix):
                found.append(path)
    return sorted(found[:most])


def _check(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise OSError(errno.EINVAL, f"it is {kind}, not a file", str(path))
