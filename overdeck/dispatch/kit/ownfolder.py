"""Files below one folder and nowhere else: where modules write what they keep for the owner.

Every name is one part of a path, and every step is taken from a descriptor of the folder and follows no link: a link, a
``..`` or a folder that was exchanged in between leads nowhere. A file is there whole or not at all, and is its owner's
only. What cannot be done raises OSError, or ValueError where a name is none; a module lets it pass, for then the
dispatcher writes it down and the call goes on.

Beside the hot path: the modules that need it import it.
"""

from __future__ import annotations

import posix
import time

from overdeck.dispatch.plan import is_regular, opened, start_of
from overdeck.dispatch.writing import fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

MAX_NAME = 200
"""Bytes; with what a temporary file adds still below the 255 of every file system."""
_OPEN_FOLDER = posix.O_RDONLY | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC
_NEW = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW | posix.O_CLOEXEC
_LEFT_OVER_S = 3600
"""A temporary file so old belongs to a process that was killed."""


class Folder:
    """An open folder. ``make``: where only its last part is missing it is made (0700). ``with`` closes it."""

    __slots__ = ("_fd", "path")

    def __init__(self, path: str, *, within: int | None = None, make: bool = True) -> None:
        if within is None and (not path.startswith("/") or {".", ".."} & {*path.split("/")}):
            raise ValueError(f"a folder to keep files in must be an absolute path without dots, not {path!r}")
        self.path = path
        name = path.rstrip("/") or "/"
        try:
            self._fd = posix.open(name, _OPEN_FOLDER, dir_fd=within)
        except FileNotFoundError:
            if not make:
                raise
            try:
                posix.mkdir(name, 0o700, dir_fd=within)
            except FileExistsError:  # another call was faster
                pass
            self._fd = posix.open(name, _OPEN_FOLDER, dir_fd=within)

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        posix.close(self._fd)

    def below(self, name: str) -> Folder:
        """A folder in this one."""
        return Folder(_part(name), within=self._fd)

    def read(self, name: str, most: int) -> bytes:
        """The first ``most`` bytes of a file; raises OSError, FileNotFoundError where there is none."""
        fd = opened(_part(name), follow=False, within=self._fd)
        try:
            return start_of(fd, most)
        finally:
            posix.close(fd)

    def replace(self, name: str, content: bytes, *, lasting: bool = True) -> None:
        """Put a file there, whole, in the place of what had its name; the old one stays where that fails.

        ``lasting`` waits until the disk has it; what is written anew at every turn need not.
        """
        temporary = self._written(name, content, lasting)
        try:
            posix.rename(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except BaseException:
            posix.unlink(temporary, dir_fd=self._fd)
            raise

    def create(self, name: str, content: bytes) -> bool:
        """Put a file there, whole, unless the name is taken: then False. Of several calls at once one is told True."""
        temporary = self._written(name, content, lasting=False)
        try:
            posix.link(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except FileExistsError:
            return False
        finally:
            posix.unlink(temporary, dir_fd=self._fd)
        return True

    def remove(self, name: str) -> None:
        """Take a file away; nothing where there is none."""
        try:
            posix.unlink(_part(name), dir_fd=self._fd)
        except FileNotFoundError:
            return

    def names(self) -> list[str]:
        """What is in it, in no order."""
        return posix.listdir(self._fd)

    def touch(self, name: str) -> bool:
        """Whether the file is there; it then counts as written just now."""
        try:
            posix.utime(name, dir_fd=self._fd, follow_symlinks=False)
        except OSError:
            return False
        return True

    def forget(self, older_s: float, more_than: int) -> None:
        """Where there are more than so many files, remove those nobody wrote for ``older_s`` seconds."""
        names = posix.listdir(self._fd)
        if len(names) <= more_than:
            return
        now = time.time()
        for name in names:
            limit = min(older_s, _LEFT_OVER_S) if name.startswith(".") and name.endswith(".tmp") else older_s
            try:
                st = posix.stat(name, dir_fd=self._fd, follow_symlinks=False)
                if is_regular(st) and now - st.st_mtime > limit:
                    posix.unlink(name, dir_fd=self._fd)
            except OSError:
                continue

    def _written(self, name: str, content: bytes, lasting: bool) -> str:
        """A temporary file with this content, for the file ``name``."""
        temporary = f".{_part(name)}.{posix.getpid()}.tmp"
        try:
            fd = posix.open(temporary, _NEW, 0o600, dir_fd=self._fd)
        except FileExistsError:  # of a process of this number that was killed
            posix.unlink(temporary, dir_fd=self._fd)
            fd = posix.open(temporary, _NEW, 0o600, dir_fd=self._fd)
        try:
            fill(fd, content, lasting=lasting)
        except BaseException:
            posix.unlink(temporary, dir_fd=self._fd)
            raise
        return temporary


def _part(name: str) -> str:
    """``name`` if it is one part of a path; raises ValueError."""
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise ValueError(f"{name!r} is no name of a file")
    if len(name.encode("utf-8", "replace")) > MAX_NAME:
        raise ValueError(f"a name over {MAX_NAME} bytes: {name[:40]!r}…")
    return name
