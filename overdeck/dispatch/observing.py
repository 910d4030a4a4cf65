"""What the native front logs by itself for its observers, where there is none: the Python twin of its ``observe``."""

from __future__ import annotations

import posix

from overdeck.dispatch.jsontext import dumps
from overdeck.dispatch.plan import NATIVE_FIELDS
from overdeck.dispatch.record import APPENDING, now, torn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.plan import Native

MAX_NAME = 200
MAX_CLASS = 40
MAX_FOLDER = 1024
"""Bytes; what is longer is left out, as it is by the native front."""
TRIES = 3

_CLASS_LETTERS = "abcdefghijklmnopqrstuvwxyz_"
_KIND, _REGULAR = 0o170000, 0o100000


def observe(module: str, native: Native, line: dict[str, Any], top: dict[str, Any]) -> None:
    """Append one line: sizes, names and classes, never input. ``line`` is what the calls line says of the call too."""
    spooled = "id" in native.fields
    known = {
        **line,
        "id": posix.urandom(16).hex() if spooled else "",
        "error": _class(top.get("error")),
        "cwd": _plain(top.get("cwd"), MAX_FOLDER),
        "agent": _plain(top.get("agent_id"), MAX_NAME),
    }
    typed = {"type": native.type, "source": module} if native.type else {}
    kept = {name: known[name] for name in NATIVE_FIELDS if name in native.fields}
    text = dumps({"ts": now(), **typed, **kept}) + "\n"
    append(native.path, text.encode("utf-8", "replace"), native.max_bytes, spooled=spooled)


def append(path: str, line: bytes, max_bytes: int, *, spooled: bool) -> None:
    """One ``write()`` on O_APPEND; a full disk, a read-only folder, what is no file: the line is lost, no verdict is.

    Nothing is waited for. A journal over ``max_bytes`` is rolled once. A spool takes no more then, for who replays it
    would lose lines; and what was written to one that has just been taken away under us (capture/spool.py) is written
    again.
    """
    for attempt in range(TRIES):
        try:
            fd = posix.open(path, APPENDING, 0o600)
        except BlockingIOError:
            continue  # it is being taken away: the next look finds another
        except OSError:
            return
        try:
            if _written(fd, path, line, max_bytes, spooled, first=attempt == 0):
                return
        except OSError:
            return
        finally:
            posix.close(fd)


def _written(fd: int, path: str, line: bytes, max_bytes: int, spooled: bool, *, first: bool) -> bool:
    """Write to an open log; False where it has to be opened again. Raises OSError."""
    st = posix.fstat(fd)
    if st.st_mode & _KIND != _REGULAR:
        return True
    if st.st_size > max_bytes:
        if not spooled and first:
            _roll(path, fd, st.st_ino)
            return False
        if spooled or st.st_size > 2 * max_bytes:
            return True
    posix.write(fd, b"\n" + line if torn(fd) else line)
    return not spooled or posix.fstat(fd).st_nlink > 0


def _roll(path: str, fd: int, inode: int) -> None:
    """Rename a log that is full. Whoever holds its lock and still finds it under its name is the one to do so: two that
    rolled would throw away what the first had set aside.
    """
    import fcntl  # once in 16 MiB

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if posix.stat(path).st_ino == inode:
            posix.rename(path, path + ".1")
    except OSError:
        return


def _plain(value: object, most: int) -> str:
    """A short text, without what a client would have had to escape."""
    text = value if isinstance(value, str) and len(value.encode("utf-8", "replace")) <= most else ""
    return "" if any(letter in '"\\' or letter < " " for letter in text) else text


def _class(value: object) -> str:
    """A word that names a class, such as ``rate_limit``; a sentence may hold anything and is left out."""
    return value if isinstance(value, str) and len(value) <= MAX_CLASS and not value.strip(_CLASS_LETTERS) else ""
