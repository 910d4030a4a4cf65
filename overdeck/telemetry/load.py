"""Checked lines into tables, fast: SQL takes in the usual lines, ``lines`` decides on all others.

The log's text goes to DuckDB as one parameter of two megabytes and is split there; measured three ways in
docs/plans/telemetry.md. SQL accepts only lines that are good beyond doubt; those that are left go through
Python one by one and end as rows or in quarantine.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from overdeck.telemetry import lines
from overdeck.telemetry.sources import Chunk, Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PIECE_BYTES = 2 << 20

_RAW = "select unnest(string_split($text, chr(10))) as raw"
# Position of each line = bytes of the lines before it; strlen counts bytes. The running sum stands above all else: a
# filter is not pushed below it, which would do the work under it twice.
_POS = """
($offset + sum(strlen(raw) + 1) over (rows between unbounded preceding and current row) - strlen(raw) - 1)::bigint
"""

# The shape of a usual line, as one regex (RE2: linear time). What fits is JSON, and means the same to Python and SQL:
# an escape (a backslash) is left to Python, whitespace may stand where JSON lets it.
_BLANK = r"[ \t\r]*"
_CHAR = r'[^"\\\x00-\x1f]'
_COUNT = r"(?:0|[1-9]\d{0,11})"  # below lines.MOST
# Stricter than Python's fromisoformat and DuckDB's cast, and within lines.EARLIEST and LATEST.
_TIME = r"(?:20[2-9]\d|2[1-9]\d\d|[3-8]\d{3})-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z"


def _object(*pairs: tuple[str, str]) -> str:
    """The regex of a JSON object that has just these keys, in this order; a pair's second is its value's regex."""
    members = (f'"{key}"{_BLANK}:{_BLANK}{value}{_BLANK}' for key, value in pairs)
    return rf"\{{{_BLANK}{f',{_BLANK}'.join(members)}\}}"


_FIRE_SHAPE = _object(
    ("ts", f'"{_TIME}"'),
    ("event", f'"{_CHAR}+"'),
    ("module", f'"{_CHAR}+"'),
    ("action", '"(?:deny|advise|act)"'),
)
_RUN = _object(("us", _COUNT), ("bytes", _COUNT), ("end", '"(?:none|fire|error|timeout)"'))
_RAN = f'"{_CHAR}+"{_BLANK}:{_BLANK}{_RUN}{_BLANK}'
_CALL_SHAPE = _object(
    ("ts", f'"{_TIME}"'),
    ("v", "1"),
    ("plan", f'"{_CHAR}*"'),
    ("client", f'"{_CHAR}*"'),
    ("event", f'"{_CHAR}+"'),
    ("tool", f'"{_CHAR}*"'),
    ("session", f'"{_CHAR}*"'),
    ("sub", "(?:true|false)"),
    ("in", _COUNT),
    ("out", _COUNT),
    ("us", _COUNT),
    ("ran", rf"\{{{_BLANK}(?:{_RAN}(?:,{_BLANK}{_RAN})*)?\}}"),
)


def _usual(shape: str, keys: Sequence[str], having: str = "") -> str:
    """SQL of every line: ``raw``, and in ``x`` the values of ``keys`` as text.

    ``x`` is NULL where the line has not this shape, or does not contain ``having``.
    """
    paths = [f"$.{key}" for key in keys]
    return (
        f"select raw, case when contains(raw, '{having}') and regexp_full_match(raw, '{_BLANK}{shape}{_BLANK}') "
        f"then json_extract_string(raw, {paths}) end as x from ({_RAW})"
    )


# The time is looked at again: its shape lets the 30th of February through.
_FIRES = f"""
select *, {_POS} as pos from (
    select raw, try_cast(x[1] as timestamp) as ts, x[2] as event, x[3] as module, x[4] as action, ts is not null as good
    from ({_usual(_FIRE_SHAPE, ("ts", "event", "module", "action"))})
)
"""
_INSERT_FIRES = (
    f"insert into fires select ts, event, module, action, null, $source, pos from ({_FIRES}) where good"
)

_CALL_KEYS = ("ts", "client", "plan", "event", "tool", "session", "sub", "in", "out", "us", "ran")
_ENDED = '"end"'
"""What a line has in which a module ran."""


def _calls(having: str = "") -> str:
    """SQL of every line of a calls log; ``good`` where it is usual and contains ``having``.

    A module that stands twice in "ran" is for Python to refuse.
    """
    return f"""
select *, {_POS} as pos from (
    select raw, try_cast(x[1] as timestamp) as ts, x[2] as client, x[3] as plan, x[4] as event, x[5] as tool,
        x[6] as session, x[7]::boolean as sub, x[8]::bigint as in_bytes, x[9]::bigint as out_bytes,
        x[10]::bigint as us, case when contains(x[11], '"') then x[11] end as ran,
        ts is not null and (ran is null or list_unique(json_keys(ran)) = len(json_keys(ran))) as good
    from ({_usual(_CALL_SHAPE, _CALL_KEYS, having)})
)
"""


_INSERT_CALLS = f"""
insert into calls select ts, client, plan, event, tool, session, sub, in_bytes, out_bytes, us, null, null,
    $source, pos
from ({_calls()}) where good
"""
_INSERT_RUNS = f"""
insert into runs select ts, client, plan, event, tool, sub, run.key, run.value.us, run.value.bytes, run.value."end",
    $source, pos
from (
    select *, unnest(map_entries(from_json(ran,
        '"MAP(VARCHAR, STRUCT(us BIGINT, bytes BIGINT, \\"end\\" VARCHAR))"'))) as run
    from ({_calls(_ENDED)}) where good and ran is not null
)
"""

_FAST = {"fires": (_INSERT_FIRES, _FIRES), "calls": (_INSERT_CALLS, _calls())}

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
    insert, lines_of = _FAST[source.kind]
    found = connection.execute(insert, {"text": text, "offset": offset, "source": source.id}).fetchone()
    done = int(found[0]) if found else 0
    if done and source.kind == "calls" and _ENDED in text:
        connection.execute(_INSERT_RUNS, {"text": text, "offset": offset, "source": source.id})
    if done == piece.count(b"\n") + 1:
        return done, []
    query = f"select pos, raw from ({lines_of}) where not good"
    left = connection.execute(query, {"text": text, "offset": offset}).fetchall()
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
