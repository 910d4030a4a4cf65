"""Looking for files that others wrote, whatever stands at their path; ``overdeck.files.read_regular`` reads them."""

import errno
import os
import stat
from pathlib import Path

_NOWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)


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
