"""Texts kept under everything they were made of. What is not exactly as it was written is made again, not believed."""

from __future__ import annotations

import os
import posix

from overdeck.dispatch.kit.sessionfiles import prune
from overdeck.dispatch.plan import digest, distrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BYTES = 1 << 16


class Cache:
    """Below ``folder``, which is made where it is not there; one file a name, its key and its text under a digest."""

    __slots__ = ("folder",)

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def kept(self, name: str, key: str, make: Callable[[], str]) -> str:
        """The text that ``make`` gave when the key of ``name`` was last this one; else what it gives now.

        Nothing about the cache ever fails: where it cannot be read, or not be written, the text is made.
        """
        path = f"{self.folder}/{digest(name.encode('utf-8', 'replace'))}"
        known = self._read(path)
        if known is not None and known[0] == key:
            return known[1]
        text = make()
        if "\n" not in key + text:
            self._write(path, f"{key}\n{text}\n".encode("utf-8", "replace"), new=known is None)
        return text

    def _read(self, path: str) -> tuple[str, str] | None:
        try:
            if distrusted(self.folder, posix.stat(self.folder)):
                return None
            fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK)
            try:
                if distrusted(path, posix.fstat(fd)):
                    return None
                raw = posix.read(fd, MAX_BYTES)
            finally:
                posix.close(fd)
            seal, _, inside = raw.partition(b"\n")
            if seal.decode() != digest(inside):
                return None
            key, text, _ = inside.decode().split("\n")
            return key, text
        except (OSError, ValueError):
            return None

    def _write(self, path: str, inside: bytes, *, new: bool) -> None:
        """By rename, and without a sync: a power cut leaves what the digest refuses."""
        temporary = f"{path}.{posix.getpid()}"
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            if distrusted(self.folder, posix.stat(self.folder)):
                return
            flags = posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_CLOEXEC | posix.O_NOFOLLOW
            fd = posix.open(temporary, flags, 0o600)
            try:
                posix.write(fd, digest(inside).encode() + b"\n" + inside)
            finally:
                posix.close(fd)
            posix.rename(temporary, path)
            if new:
                prune(self.folder)
        except OSError:
            try:
                posix.unlink(temporary)
            except OSError:
                pass
