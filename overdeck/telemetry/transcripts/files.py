"""Transcript files on disk: which there are, and which of them the database has read, and how far.

A client appends to a session's file, but also rewrites it in place (a message taken back), and deletes it after a
month. So besides the head of the file (see ``sources``) the last bytes before the offset must be what they were;
else the file is read from its start again, as another generation. What that reads twice are copies of records the
database holds, and copies count once.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from overdeck.telemetry.sources import HEAD_BYTES, LogFile

KIND = "transcript"
SUFFIX = ".jsonl"
TAIL_BYTES = 256


@dataclass(frozen=True)
class Transcript:
    """A file as the database knows it, one for each generation. Sizes and ``offset`` in bytes."""

    id: int
    path: str
    device: int
    inode: int
    generation: int
    head_bytes: int
    head_hash: str
    tail_hash: str
    offset: int
    size: int
    mtime_ns: int
    replaced: bool


class Listing(NamedTuple):
    """Every transcript below a folder, by path, and what could not be looked at and why."""

    files: list[LogFile]
    unreadable: list[str]


class Waiting(NamedTuple):
    """A file that holds more than was read. ``new`` is a source that the database does not hold yet."""

    file: LogFile
    source: Transcript
    new: bool


class Matched(NamedTuple):
    """What is to be read; the sources whose file holds something else now; what could not be opened, and why."""

    waiting: list[Waiting]
    replaced: list[Transcript]
    unreadable: list[str]


def list_transcripts(root: Path) -> Listing:
    """The regular files named ``*.jsonl`` at or below ``root``, each once, however many links lead to it.

    Links to folders are followed, a folder is entered once: a loop ends. What cannot be looked at is named.
    """
    listing = Listing([], [])
    seen: set[tuple[int, int]] = set()
    for path in [root] if root.is_file() else _walk(root, listing.unreadable):
        try:
            st = path.stat()
        except OSError as error:
            listing.unreadable.append(f"{path}: {error.strerror}")
            continue
        if stat.S_ISREG(st.st_mode) and (st.st_dev, st.st_ino) not in seen:
            seen.add((st.st_dev, st.st_ino))
            listing.files.append(LogFile(KIND, path, st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns))
    return listing


def _walk(root: Path, unreadable: list[str]) -> Iterator[Path]:
    entered: set[tuple[int, int]] = set()
    folders = [str(root)]
    while folders:
        folder = folders.pop()
        below = []
        try:
            st = Path(folder).stat()
            if (st.st_dev, st.st_ino) in entered:
                continue
            entered.add((st.st_dev, st.st_ino))
            with os.scandir(folder) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    if entry.name.endswith(SUFFIX):
                        yield Path(entry.path)
                    elif _is_folder(entry):
                        below.append(entry.path)
        except OSError as error:
            unreadable.append(f"{folder}: {error.strerror}")
        folders += reversed(below)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def match(files: list[LogFile], known: list[Transcript]) -> Matched:
    """Say for each file that holds more than was read which source it continues.

    By (device, inode); where none fits (a restored home, a device with a new number), by the path. A file shorter
    than a whole line has no identity yet and waits.
    """
    current = {(s.device, s.inode): s for s in known if not s.replaced}
    in_place = {(file.device, file.inode) for file in files}
    lost = {s.path: s for s in known if not s.replaced and (s.device, s.inode) not in in_place}
    generations: dict[str, int] = {}
    for each in known:
        generations[each.path] = max(generations.get(each.path, 0), each.generation)
    ids = max((each.id for each in known), default=0)
    found = Matched([], [], [])
    for file in files:
        source: Transcript | None = current.get((file.device, file.inode)) or lost.get(str(file.path))
        if source is not None and _identity(source) == _identity(file):
            continue
        try:
            if source is not None and _continues(file, source):
                found.waiting.append(Waiting(file, _moved(source, file), new=False))
                continue
            with file.path.open("rb") as opened:
                head = opened.read(HEAD_BYTES)
        except OSError as error:
            found.unreadable.append(f"{file.path}: {error.strerror}")
            continue
        end = head.rfind(b"\n") + 1 or (HEAD_BYTES if len(head) == HEAD_BYTES else 0)
        if not end:
            continue
        if source is not None:
            found.replaced.append(source)
        ids += 1
        generation = generations.get(str(file.path), 0) + 1
        start = Transcript(
            ids, str(file.path), file.device, file.inode, generation, end, content_hash(head[:end]), content_hash(b""),
            0, file.size, file.mtime_ns, replaced=False,
        )  # fmt: skip
        found.waiting.append(Waiting(file, start, new=True))
    return found


def content_hash(data: bytes) -> str:
    """What heads and tails are compared by."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _identity(file: LogFile | Transcript) -> tuple[str, int, int, int, int]:
    return str(file.path), file.device, file.inode, file.size, file.mtime_ns


def _moved(source: Transcript, file: LogFile) -> Transcript:
    return replace(
        source, path=str(file.path), device=file.device, inode=file.inode, size=file.size, mtime_ns=file.mtime_ns
    )


def _continues(file: LogFile, source: Transcript) -> bool:
    """Whether the file still begins, and up to the offset ends, as it did."""
    if file.size < source.offset:
        return False
    with file.path.open("rb") as opened:
        if content_hash(opened.read(source.head_bytes)) != source.head_hash:
            return False
        length = min(TAIL_BYTES, source.offset)
        opened.seek(source.offset - length)
        return content_hash(opened.read(length)) == source.tail_hash
