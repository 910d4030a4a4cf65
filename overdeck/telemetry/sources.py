"""Log files on disk: which there are, which of them is which, and their whole lines from an offset on.

A file is known by (device, inode) and the hash of its first bytes. The length of that head is fixed when
the file is first read, so that growth does not change it. Our own logs rotate by rename only: the inode stays.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from overdeck.paths import Places

KINDS = ("fires", "calls")
HEAD_BYTES = 4096
CHUNK_BYTES = 16 << 20
LONGEST_LINE_BYTES = 64 << 20
_COMPRESSED = (".gz", ".zst", ".xz", ".bz2", ".lz4")


@dataclass(frozen=True)
class LogFile:
    """A log file as it is now. ``size`` in bytes, ``mtime_ns`` since 1970 UTC."""

    kind: str
    path: Path
    device: int
    inode: int
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class Source:
    """A log file as the database knows it; one row a generation. ``offset`` is the bytes already taken in.

    ``replaced`` is set once other content took the file's place.
    """

    id: int
    kind: str
    path: str
    device: int
    inode: int
    generation: int
    head_bytes: int
    head_hash: str
    offset: int
    size: int
    mtime_ns: int
    replaced: bool


class Chunk(NamedTuple):
    """Whole lines: ``data`` begins at byte ``offset`` of its file and ends with a newline.

    ``cut`` marks a piece of one line longer than LONGEST_LINE_BYTES, which has no newline.
    """

    offset: int
    data: bytes
    cut: bool = False


class Match(NamedTuple):
    """A file and the source it continues. ``new`` is a source the database does not hold yet."""

    file: LogFile
    source: Source
    new: bool


class Matches(NamedTuple):
    """What is to be read, in order; sources whose file holds something else now; what the user should know."""

    read: list[Match]
    replaced: list[Source]
    warnings: list[str]


def log_files(places: Places) -> tuple[list[LogFile], list[str]]:
    """Every fires and calls log, rotated segments first (oldest first), and warnings.

    The live file is looked at before its segments are listed: a rotation in between then shows the same inode
    twice, is read under its new name, and the new live file waits for the next tick, behind its predecessor.
    """
    found: list[LogFile] = []
    warnings = []
    for kind, live in zip(KINDS, (places.fires_log, places.calls_log), strict=True):
        first = _log_file(kind, live)
        segments = []
        for path in sorted(live.parent.glob(live.name + ".*")):
            if path.suffix in _COMPRESSED:
                warnings.append(f"{path} is compressed and was not read: rotate by rename only")
                continue
            segment = _log_file(kind, path)
            if segment and first and (segment.device, segment.inode) == (first.device, first.inode):
                first = segment
            elif segment:
                segments.append(segment)
        segments.sort(key=lambda file: (file.mtime_ns, file.path.name))
        found += segments + ([first] if first else [])
    return found, warnings


def match(files: list[LogFile], known: list[Source]) -> Matches:
    """Say for each file which source it continues, by the rules at the top of this file.

    A file that no (device, inode) fits continues a source of the same head whose own file is gone: a restored
    backup, a device with a new number, or the copy of a copy-truncate, which would else count twice.
    """
    current = {(s.kind, s.device, s.inode): s for s in known if not s.replaced}
    read: dict[int, Match] = {}
    replaced: list[Source] = []
    strangers: list[int] = []
    for at, file in enumerate(files):
        source = current.get((file.kind, file.device, file.inode))
        if source is None:
            strangers.append(at)
        elif _unchanged(file, source):
            read[at] = Match(file, source, new=False)
        else:
            head = _head(file, source.head_bytes)
            if head is None or _continues(file, source, head):
                read[at] = Match(file, source, new=False)
            else:
                replaced.append(source)
                strangers.append(at)
    in_place = {match.source.id for match in read.values()}
    orphans = [source for source in known if source.id not in in_place]
    warnings: list[str] = []
    ids = max((source.id for source in known), default=0)
    for at in strangers:
        file = files[at]
        head = _head(file, HEAD_BYTES)
        if not head:
            if not os.access(file.path, os.R_OK):
                warnings.append(f"{file.path} may not be read by you")
            continue
        orphan = next((s for s in orphans if s.kind == file.kind and _continues(file, s, head)), None)
        if orphan:
            orphans.remove(orphan)
            moved = replace(orphan, device=file.device, inode=file.inode, replaced=False)
            read[at] = Match(file, moved, new=False)
            continue
        end = head.rfind(b"\n") + 1 or (HEAD_BYTES if len(head) == HEAD_BYTES else 0)
        if not end:
            continue
        generations = [
            s.generation for s in known if (s.kind, s.device, s.inode) == (file.kind, file.device, file.inode)
        ]
        ids += 1
        source = Source(
            id=ids,
            kind=file.kind,
            path=str(file.path),
            device=file.device,
            inode=file.inode,
            generation=max(generations, default=0) + 1,
            head_bytes=end,
            head_hash=_hash(head[:end]),
            offset=0,
            size=0,
            mtime_ns=0,
            replaced=False,
        )
        read[at] = Match(file, source, new=True)
        if source.generation > 1:
            warnings.append(
                f"{file.path} does not begin as it did: read from its start, as generation {source.generation}"
            )
    kept = {match.source.id for match in read.values()}
    return Matches(
        [read[at] for at in sorted(read)], [source for source in replaced if source.id not in kept], warnings
    )


def drained(match: Match) -> bool:
    """Whether nothing happened to the file since the database last read it to its end."""
    return not match.new and _unchanged(match.file, match.source) and str(match.file.path) == match.source.path


def chunks(file: LogFile, offset: int, *, at_once: int | None = None) -> Iterator[Chunk]:
    """The whole lines of the file from ``offset`` to its last newline; a torn last line waits.

    Memory is bounded by ``at_once`` (CHUNK_BYTES) bytes, or by one longer line. Raises OSError where the file
    cannot be read or its path names another file by now; the next tick finds both.
    """
    with file.path.open("rb") as log:
        st = os.fstat(log.fileno())
        if (st.st_dev, st.st_ino) != (file.device, file.inode):
            raise FileNotFoundError(f"{file.path} was renamed just now")
        usual = wanted = at_once or CHUNK_BYTES
        while True:
            log.seek(offset)
            data = log.read(wanted)
            end = data.rfind(b"\n") + 1
            if end:
                yield Chunk(offset, data[:end])
                offset += end
                wanted = usual
            elif len(data) >= LONGEST_LINE_BYTES:
                yield Chunk(offset, data, cut=True)
                offset += len(data)
            elif len(data) == wanted:
                wanted = min(wanted * 4, LONGEST_LINE_BYTES)
            else:
                return


def _log_file(kind: str, path: Path) -> LogFile | None:
    try:
        st = path.stat()
    except OSError:
        return None
    if not path.is_file():
        return None
    return LogFile(kind, path, st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns)


def _unchanged(file: LogFile, source: Source) -> bool:
    seen = (source.device, source.inode, source.size, source.mtime_ns)
    return seen == (file.device, file.inode, file.size, file.mtime_ns)


def _continues(file: LogFile, source: Source, head: bytes) -> bool:
    return (
        file.size >= source.offset
        and len(head) >= source.head_bytes
        and _hash(head[: source.head_bytes]) == source.head_hash
    )


def _head(file: LogFile, length: int) -> bytes | None:
    """The first bytes of the file; None where its path names another file by now."""
    try:
        with file.path.open("rb") as log:
            st = os.fstat(log.fileno())
            return log.read(length) if (st.st_dev, st.st_ino) == (file.device, file.inode) else None
    except OSError:
        return None


def _hash(head: bytes) -> str:
    import hashlib  # OpenSSL: not for a look at files that did not change

    return hashlib.sha256(head).hexdigest()
