"""Where raw records go when nobody said where: the cache, the last few of them."""

import errno
import fcntl
import os
import time
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

KEPT = 20
"""Records; one is about 1.5 kB a run."""
_NAME = "ab-*.jsonl"


def new_record(cache: Path) -> Path:
    """A name for a new file in ``cache``/bench, which is made; with it there will be KEPT records there.

    The oldest go, those apart that a measurement is still writing (RawRecord locks its file). Raises OSError where
    nothing can be written there.
    """
    folder = _folder(cache)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    for old in sorted(folder.glob(_NAME))[: -(KEPT - 1)]:
        with suppress(FileNotFoundError):  # another measurement tidies too
            if not in_use(old):
                old.unlink()
    return folder / f"ab-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}.jsonl"


def records(cache: Path) -> list[Path]:
    """The records that are kept in ``cache``/bench, the newest first. Raises OSError where they cannot be listed."""
    try:
        return sorted((file for file in _folder(cache).iterdir() if fnmatch(file.name, _NAME)), reverse=True)
    except FileNotFoundError:
        return []


def _folder(cache: Path) -> Path:
    return cache / "bench"


def in_use(record: Path) -> bool:
    """Whether a measurement is writing it now, or nobody may tell. Raises FileNotFoundError."""
    try:
        file = os.open(record, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
