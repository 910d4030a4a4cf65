"""Checked lines into tables, fast: SQL takes in the usual lines, ``lines`` decides on all others.

The log's text goes to DuckDB as one parameter of about a megabyte and is split there; measured three ways in
docs/plans/telemetry.md. SQL accepts only lines that are good beyond doubt; those that are left go through
Python one by one and end as rows or in quarantine.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from overdeck.telemetry import lines
from overdeck.telemetry.sources import Chunk, Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PIECE_BYTES = 1 << 20

# Position of each line = bytes of the lines before it; strlen counts bytes.
_LINES = """
select raw,
    ($offset + sum(strlen(raw) + 1) over (rows between unbounded preceding and current row)
        - strlen(raw) - 1)::bigint as pos
from (select unnest(string_split($text, chr(10))) as raw)
"""

# Stricter than Python's fromisoformat and DuckDB's cast, and within lines.EARLIEST and LATEST: what passes means the
# same to both.
_TIME = r"(20[2-9]\d|2[1-9]\d\d|[3-8]\d{3})-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?Z"

_FIRE_PATHS = "['$.ts', '$.event', '$.module', '$.action']"
# CASE keeps each JSON function away from what is not JSON; a backslash (an escape) is left to Python.
_FIRES = f"""
select pos, raw, x, try_cast(x[1] as timestamp) as ts,
    coalesce(regexp_full_match(x[1], '{_TIME}') and ts is not null and x[2] <> '' and x[3] <> ''
        and x[4] in ('deny', 'advise', 'act'), false) as good
from (
    select pos, raw, case when usual then json_extract_string(raw, {_FIRE_PATHS}) end as x
    from (
        select pos, raw, case when json_valid(raw) and not contains(raw, '\\') then
            json_keys(raw) = ['ts', 'event', 'module', 'action']
            and json_type(raw, {_FIRE_PATHS})
                = ['VARCHAR', 'VARCHAR', 'VARCHAR', 'VARCHAR']
        else false end as usual
        from ({_LINES})
    )
)
"""
_INSERT_FIRES = f"insert into fires select ts, x[2], x[3], x[4], null, $source, pos from ({_FIRES}) where good"
_OTHER_FIRES = f"select pos, raw from ({_FIRES}) where not good"

_CALL_PATHS = (
    "['$.ts', '$.client', '$.plan', '$.event', '$.tool', '$.session', '$.sub', '$.in', '$.out', '$.us', "
    "'$.v', '$.ran']"
)
_CALLS = f"""
select pos, raw, x, try_cast(x[1] as timestamp) as ts,
    try_cast(x[8] as bigint) as in_bytes, try_cast(x[9] as bigint) as out_bytes, try_cast(x[10] as bigint) as us,
    coalesce(regexp_full_match(x[1], '{_TIME}') and ts is not null and x[4] <> '' and in_bytes is not null
        and out_bytes is not null and us is not null and greatest(in_bytes, out_bytes, us) <= {lines.MOST}
        and x[11] = '1' and x[12] = '{{}}', false) as good
from (
    select pos, raw, case when usual then json_extract_string(raw, {_CALL_PATHS}) end as x
    from (
        select pos, raw, case when json_valid(raw) and not contains(raw, '\\') then
            list_sort(json_keys(raw)) = ['client', 'event', 'in', 'out', 'plan', 'ran', 'session', 'sub', 'tool',
                'ts', 'us', 'v']
            and json_type(raw, {_CALL_PATHS}) = ['VARCHAR', 'VARCHAR', 'VARCHAR', 'VARCHAR', 'VARCHAR', 'VARCHAR',
                'BOOLEAN', 'UBIGINT', 'UBIGINT', 'UBIGINT', 'UBIGINT', 'OBJECT']
        else false end as usual
        from ({_LINES})
    )
)
"""
_INSERT_CALLS = f"""
insert into calls select ts, x[2], x[3], x[4], x[5], x[6], x[7]::boolean, in_bytes, out_bytes, us, null, null,
    $source, pos
from ({_CALLS}) where good
"""
_OTHER_CALLS = f"select pos, raw from ({_CALLS}) where not good"

_FAST = {"fires": (_INSERT_FIRES, _OTHER_FIRES), "calls": (_INSERT_CALLS, _OTHER_CALLS)}

# One JSON parameter for many rows: a list parameter costs 75 microseconds an element in DuckDB 1.5.
_SLOW = {
    "fires": """
insert into fires select r.ts, r.event, r.module, r.action, r.extra, $source, r.pos from (
    select unnest(from_json($rows, '[{"ts":"TIMESTAMP","event":"VARCHAR","module":"VARCHAR","action":"VARCHAR",
        "extra":"VARCHAR","pos":"BIGINT"}]')) as r)
""",
    "calls": """
insert into calls select r.ts, r.client, r.plan, r.event, r.tool, r.session, r.sub, r.in_bytes, r.out_bytes, r.us,
    r.err, r.extra, $source, r.pos
from (select unnest(from_json($rows, '[{"ts":"TIMESTAMP","client":"VARCHAR","plan":"VARCHAR","event":"VARCHAR",
    "tool":"VARCHAR","session":"VARCHAR","sub":"BOOLEAN","in_bytes":"BIGINT","out_bytes":"BIGINT","us":"BIGINT",
    "err":"VARCHAR","extra":"VARCHAR","pos":"BIGINT"}]')) as r)
""",
    "runs": """
insert into runs select r.ts, r.client, r.plan, r.event, r.tool, r.sub, r.module, r.us, r.bytes, r."end", $source,
    r.pos
from (select unnest(from_json($rows, '[{"ts":"TIMESTAMP","client":"VARCHAR","plan":"VARCHAR","event":"VARCHAR",
    "tool":"VARCHAR","sub":"BOOLEAN","module":"VARCHAR","us":"BIGINT","bytes":"BIGINT","end":"VARCHAR",
    "pos":"BIGINT"}]')) as r)
""",
    "quarantine": """
insert into quarantine select $source, $file, r.pos, r.bytes, r.reason, $now from (
    select unnest(from_json($rows, '[{"pos":"BIGINT","bytes":"BIGINT","reason":"VARCHAR"}]')) as r)
""",
}


class Loaded(NamedTuple):
    """What became of the lines of one chunk."""

    rows: int
    quarantined: int


class _Line(NamedTuple):
    pos: int
    raw: bytes


def load(connection: "DuckDBPyConnection", source: Source, chunk: Chunk, now: datetime) -> Loaded:
    """Take in one chunk of whole lines, inside the caller's transaction. ``now`` is naive UTC."""
    if chunk.cut:
        reason = f"a piece of a line of over {len(chunk.data) >> 20} MiB"
        _insert(
            connection,
            "quarantine",
            [{"pos": chunk.offset, "bytes": len(chunk.data), "reason": reason}],
            source=source.id,
            file=source.path,
            now=now,
        )
        return Loaded(0, 1)
    rows = quarantined = 0
    for offset, piece in _pieces(chunk):
        done, others = _fast(connection, source, offset, piece)
        checked = _checked(connection, source, others, now)
        rows += done + checked.rows
        quarantined += checked.quarantined
    return Loaded(rows, quarantined)


def _pieces(chunk: Chunk) -> Iterator[tuple[int, bytes]]:
    """The chunk in pieces of whole lines, each without its last newline, with its offset in the file."""
    at = 0
    while at < len(chunk.data):
        end = chunk.data.rfind(b"\n", at, at + PIECE_BYTES)
        if end < 0:
            end = chunk.data.index(b"\n", at)
        yield chunk.offset + at, chunk.data[at:end]
        at = end + 1


def _fast(connection: "DuckDBPyConnection", source: Source, offset: int, piece: bytes) -> tuple[int, list[_Line]]:
    """Insert the usual lines of a piece; how many they were, and the lines that are left."""
    try:
        text = None if b"\0" in piece else piece.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is None:
        others = []
        for raw in piece.split(b"\n"):
            others.append(_Line(offset, raw))
            offset += len(raw) + 1
        return 0, others
    insert, rest = _FAST[source.kind]
    found = connection.execute(insert, {"text": text, "offset": offset, "source": source.id}).fetchone()
    done = int(found[0]) if found else 0
    if done == piece.count(b"\n") + 1:
        return done, []
    left = connection.execute(rest, {"text": text, "offset": offset}).fetchall()
    return done, [_Line(pos, raw.encode()) for pos, raw in left]


def _checked(connection: "DuckDBPyConnection", source: Source, others: list[_Line], now: datetime) -> Loaded:
    """Check the lines that SQL left, one by one, and insert them as rows or into quarantine."""
    rows: list[dict[str, object]] = []
    runs: list[dict[str, object]] = []
    refused: list[dict[str, object]] = []
    for pos, raw in others:
        try:
            if source.kind == "fires":
                rows.append({**lines.fire(raw)._asdict(), "pos": pos})
                continue
            call = lines.call(raw)
        except lines.Rejected as reason:
            refused.append({"pos": pos, "bytes": len(raw) + 1, "reason": str(reason)})
            continue
        row = {**call._asdict(), "pos": pos}
        del row["runs"]
        rows.append(row)
        shared = {key: row[key] for key in ("ts", "client", "plan", "event", "tool", "sub", "pos")}
        runs += [{**shared, **run._asdict()} for run in call.runs]
    _insert(connection, source.kind, rows, source=source.id)
    _insert(connection, "runs", runs, source=source.id)
    _insert(connection, "quarantine", refused, source=source.id, file=source.path, now=now)
    return Loaded(len(rows), len(refused))


def _insert(
    connection: "DuckDBPyConnection", table: str, rows: list[dict[str, object]], **parameters: object
) -> None:
    if rows:
        connection.execute(_SLOW[table], {"rows": json.dumps(rows, default=str), **parameters})
