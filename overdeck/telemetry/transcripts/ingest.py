"""What the transcripts gained since they were last read, into the database.

Crash-safe and idempotent: the records of a batch, and how far each of its files was read, commit together. Memory
is bounded by a batch, or by one longer line; a batch spans files, because a commit costs more than a small file.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from overdeck.telemetry.sources import Chunk, chunks
from overdeck.telemetry.transcripts.files import TAIL_BYTES, Listing, Transcript, content_hash, match
from overdeck.telemetry.transcripts.records import FIELD_END, ROW_END, Record
from overdeck.telemetry.transcripts.scan import Found, Refused, scan

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CHUNK_BYTES = 8 << 20
BATCH_RECORDS = 20_000
BATCH_BYTES = 256 << 20
MOST_KINDS = 50
"""Different types of attachment that are counted by name; the rest are ``OVERFLOW``."""
OVERFLOW = "others"

_WORD = b'"attachment"'
_COLUMNS = ", ".join(Record._fields)
_NUMBERS = ("call", "duration_ms", "timeout_ms", "exit_code", "stdout_bytes", "stderr_bytes", "injected_bytes")
_TYPES = {
    **dict.fromkeys(Record._fields, "varchar"),
    "uuid": "uuid",
    "ts": "timestamp",
    "sub": "boolean",
    "acted": "boolean",
    **dict.fromkeys(_NUMBERS, "bigint"),
    "copy": "boolean",
    "source": "integer",
    "pos": "bigint",
}
_NULLABLE = {"command", "failure", *_NUMBERS}
# One text, split by two characters that no stored text holds: half the time of the same rows as JSON.
_INSERT = f"""
insert into transcript_records
select {
    ", ".join(
        f"nullif(x[{at}], '')::{kind}" if name in _NULLABLE else f"x[{at}]::{kind}"
        for at, (name, kind) in enumerate(_TYPES.items(), 1)
    )
}
from (
    select string_split(unnest(string_split($rows, chr({ord(ROW_END)}))), chr({ord(FIELD_END)})) as x
)
"""
_KNOWN_COPIES = f"""
select {_COLUMNS} from transcript_records where not copy
and uuid in (select unnest(from_json($uuids, '["UUID"]')))
"""
_QUARANTINE = """
insert into quarantine select -r.source, r.file, r.pos, r.bytes, r.reason, $now from (
    select unnest(from_json($rows, '[{"source":"INTEGER","file":"VARCHAR","pos":"BIGINT","bytes":"BIGINT",
        "reason":"VARCHAR"}]')) as r)
"""
_FILE_TYPES = (
    '[{"id":"INTEGER","path":"VARCHAR","device":"UBIGINT","inode":"UBIGINT","generation":"INTEGER",'
    '"head_bytes":"INTEGER","head_hash":"VARCHAR","tail_hash":"VARCHAR","offset":"BIGINT","size":"BIGINT",'
    '"mtime_ns":"BIGINT","replaced":"BOOLEAN"}]'
)
_FILES = (
    "insert into transcript_files select r.*, $now from (select unnest(from_json($rows, '"
    + _FILE_TYPES
    + "')) as r)"
)

Progress = Callable[[int, int], None]
"""Called with the bytes taken in so far and the bytes there are."""


@dataclass(frozen=True)
class Read:
    """What one reading took in. ``unreadable`` names each file or folder that was not read, and why."""

    files: int
    bytes: int
    records: int
    refused: int
    rewritten: int
    unreadable: tuple[str, ...]


@dataclass
class _Batch:
    """What the next transaction will write."""

    rows: list[tuple[Record, int, int]] = field(default_factory=list)
    refused: list[tuple[Transcript, Refused]] = field(default_factory=list)
    others: Counter[tuple[int, str]] = field(default_factory=Counter)
    files: dict[int, Transcript] = field(default_factory=dict)
    bytes: int = 0

    def add(self, source: Transcript, chunk: Chunk) -> Transcript:
        """Scan a chunk of the file, and note how far that brings it."""
        found = _pieces(chunk) if chunk.cut else scan(chunk.data, chunk.offset)
        self.rows += [(record, source.id, pos) for pos, record in found.records]
        self.refused += [(source, refused) for refused in found.refused]
        for kind, count in found.others.items():
            self.others[source.id, kind] += count
        self.bytes += len(chunk.data)
        source = replace(
            source, offset=chunk.offset + len(chunk.data), tail_hash=content_hash(chunk.data[-TAIL_BYTES:])
        )
        self.files[source.id] = source
        return source

    @property
    def full(self) -> bool:
        return len(self.rows) + len(self.refused) >= BATCH_RECORDS or self.bytes >= BATCH_BYTES


def ingest(
    connection: "DuckDBPyConnection", listing: Listing, now: datetime, progress: Progress | None = None
) -> Read:
    """Take in what the listed files gained. ``now`` is naive UTC. The caller is the only writer."""
    known = [
        Transcript(*row)
        for row in connection.execute(
            'select id, path, device, inode, generation, head_bytes, head_hash, tail_hash, "offset", size, mtime_ns, '
            "replaced from transcript_files"
        ).fetchall()
    ]
    found = match(listing.files, known)
    unreadable = [*listing.unreadable, *found.unreadable]
    total = sum(waiting.file.size - waiting.source.offset for waiting in found.waiting)
    batch = _Batch(files={gone.id: replace(gone, replaced=True) for gone in found.replaced})
    done = records = refused = 0
    for waiting in found.waiting:
        # Size and time of the file are kept once it is read to its end: until then it counts as changed.
        source = replace(waiting.source, size=0, mtime_ns=0)
        try:
            for chunk in chunks(waiting.file, source.offset, at_once=CHUNK_BYTES):
                source = batch.add(source, chunk)
                done += len(chunk.data)
                if progress:
                    progress(done, total)
                if batch.full:
                    records, refused = records + len(batch.rows), refused + len(batch.refused)
                    _write(connection, batch, now)
                    batch = _Batch()
        except OSError as error:
            unreadable.append(f"{waiting.file.path}: {error.strerror or error}")
        else:
            batch.files[source.id] = replace(source, size=waiting.file.size, mtime_ns=waiting.file.mtime_ns)
    records, refused = records + len(batch.rows), refused + len(batch.refused)
    if batch.files:
        _write(connection, batch, now)
    return Read(
        files=len(found.waiting),
        bytes=done,
        records=records,
        refused=refused,
        rewritten=len(found.rewritten),
        unreadable=tuple(unreadable),
    )


def _pieces(chunk: Chunk) -> Found:
    """A piece of a line too long to be read as one: refused where it may be a record."""
    refused = [Refused(chunk.offset, len(chunk.data), f"a piece of a line of over {len(chunk.data) >> 20} MiB")]
    return Found([], refused if _WORD in chunk.data else [], Counter())


def _write(connection: "DuckDBPyConnection", batch: _Batch, now: datetime) -> None:
    connection.begin()
    try:
        _write_records(connection, batch.rows)
        _insert(
            connection,
            _QUARANTINE,
            ({"source": source.id, "file": source.path, **refused._asdict()} for source, refused in batch.refused),
            now=now,
        )
        _count_others(connection, batch.others)
        for gone in (source.id for source in batch.files.values() if source.replaced):
            # Its records stay, as copies of those in the new generation or as what the client took back since.
            connection.execute("delete from quarantine where source = -?", [gone])
            connection.execute("delete from transcript_others where source = ?", [gone])
        ids = json.dumps(list(batch.files))
        connection.execute(
            "delete from transcript_files where id in (select unnest(from_json($ids, '[\"INTEGER\"]')))",
            {"ids": ids},
        )
        _insert(connection, _FILES, (asdict(source) for source in batch.files.values()), now=now)
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _write_records(connection: "DuckDBPyConnection", rows: list[tuple[Record, int, int]]) -> None:
    """Insert the rows; of several copies of a record, here or in the table, the least by ``order`` is the one."""
    best: dict[str, Record] = {}
    for record, _source, _pos in rows:
        other = best.get(record.uuid)
        if other is None or record.order < other.order:
            best[record.uuid] = record
    beaten = []
    for row in connection.execute(_KNOWN_COPIES, {"uuids": json.dumps(list(best))}).fetchall() if best else []:
        there = Record(str(row[0]), *row[1:])
        if best[there.uuid].order < there.order:
            beaten.append(there.uuid)
        else:
            del best[there.uuid]
    if beaten:
        connection.execute(
            "update transcript_records set copy = true where not copy "
            "and uuid in (select unnest(from_json($uuids, '[\"UUID\"]')))",
            {"uuids": json.dumps(beaten)},
        )

    lines = []
    for record, source, pos in rows:
        # The first that equals the best takes its place; any further one is a copy of it.
        first = best.get(record.uuid) == record
        if first:
            del best[record.uuid]
        fields = (*record, not first, source, pos)
        lines.append(FIELD_END.join(["" if value is None else str(value) for value in fields]))
    if lines:
        connection.execute(_INSERT, {"rows": ROW_END.join(lines)})


def _count_others(connection: "DuckDBPyConnection", others: Counter[tuple[int, str]]) -> None:
    """Add to the counts of other attachments; beyond MOST_KINDS names all are one."""
    if not others:
        return
    named = {row[0] for row in connection.execute("select distinct kind from transcript_others").fetchall()}
    rows: Counter[tuple[int, str]] = Counter()
    for (source, kind), count in others.items():
        if kind not in named and len(named) < MOST_KINDS:
            named.add(kind)
        rows[source, kind if kind in named else OVERFLOW] += count
    _insert(
        connection,
        "insert into transcript_others select r.source, r.kind, r.records from (select unnest(from_json($rows, "
        '\'[{"source":"INTEGER","kind":"VARCHAR","records":"BIGINT"}]\')) as r)',
        ({"source": source, "kind": kind, "records": count} for (source, kind), count in rows.items()),
    )


def _insert(
    connection: "DuckDBPyConnection", query: str, rows: Iterable[dict[str, object]], **parameters: object
) -> None:
    text = json.dumps(list(rows))
    if text != "[]":
        connection.execute(query, {"rows": text, **parameters})
