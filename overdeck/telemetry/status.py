"""What the ingest has read, how far it is behind, and what it refused, on the published copy."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from overdeck.paths import Places
from overdeck.telemetry.store import reader

EXAMPLES = 3
"""Refused lines shown of each file and reason."""


@dataclass(frozen=True)
class SourceStatus:
    """One log file. Sizes in bytes; ``behind`` is what it holds beyond ``offset``, None where it is gone."""

    file: str
    kind: str
    generation: int
    offset: int
    behind: int | None
    lines: int
    quarantined: int
    last_read: datetime


@dataclass(frozen=True)
class Refused:
    """Lines of one file refused for one reason, and the byte offsets of the first few."""

    file: str
    reason: str
    lines: int
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class Status:
    """``as_of`` is the last tick, UTC."""

    as_of: datetime
    sources: tuple[SourceStatus, ...]
    refused: tuple[Refused, ...]


def status(places: Places) -> Status:
    """Read nothing but the published copy and the sizes of the logs; raises OverdeckError without a copy."""
    with reader(places) as published:
        sources = published.connection.execute(
            'select path, kind, generation, "offset", lines, quarantined, last_read, inode, replaced '
            "from sources order by kind desc, last_read desc, id desc"
        ).fetchall()
        refused = published.connection.execute(
            'select s.path, reason, count(*), list_sort(list("offset"))[:$examples] '
            "from quarantine q join (select id, path from sources) s on s.id = q.source "
            "group by s.path, reason order by count(*) desc, s.path, reason",
            {"examples": EXAMPLES},
        ).fetchall()
        as_of = published.as_of
    return Status(
        as_of,
        tuple(
            SourceStatus(
                path,
                kind,
                generation,
                offset,
                None if replaced else _behind(Path(path), inode, offset),
                lines,
                quarantined,
                last_read.replace(tzinfo=UTC),
            )
            for path, kind, generation, offset, lines, quarantined, last_read, inode, replaced in sources
        ),
        tuple(Refused(path, reason, count, tuple(offsets)) for path, reason, count, offsets in refused),
    )


def _behind(path: Path, inode: int, offset: int) -> int | None:
    try:
        st = path.stat()
    except OSError:
        return None
    return max(0, st.st_size - offset) if st.st_ino == inode else None
