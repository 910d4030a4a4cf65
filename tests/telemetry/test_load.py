"""The SQL fast path against the definition in ``lines``."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loglines import CALL, FIRE

from overdeck.telemetry import lines, load, store
from overdeck.telemetry.sources import Chunk, Source

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def source(kind: str) -> Source:
    return Source(1, kind, "log", 1, 2, 1, 10, "x", 0, 0, 0, False)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    opened = store.open_for_writing(tmp_path_factory.mktemp("db") / "t.duckdb", NOW)
    yield opened.connection
    opened.connection.close()


Worth = tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], list[tuple[int, int, str]]]
"""Rows, the modules that ran in them, and what is refused."""


def by_python(kind: str, raw: bytes) -> Worth:
    """What each line is worth when every one goes through ``lines``."""
    good: list[tuple[Any, ...]] = []
    ran: list[tuple[Any, ...]] = []
    bad: list[tuple[int, int, str]] = []
    pos = 0
    for line in raw.split(b"\n")[:-1]:
        try:
            if kind == "fires":
                good.append((*lines.fire(line), pos))
            else:
                call = lines.call(line)
                good.append((*call[:11], call.extra, pos))
                ran += sorted((pos, *call[:5], call.sub, *run) for run in call.runs)
        except lines.Rejected as reason:
            bad.append((pos, len(line) + 1, str(reason)))
        pos += len(line) + 1
    return good, ran, bad


def by_database(connection: Any, kind: str, raw: bytes) -> Worth:
    connection.begin()
    try:
        load.load(connection, source(kind), Chunk(0, raw), NOW.replace(tzinfo=None))
        names = {
            "fires": "ts, event, module, action, extra, pos",
            "calls": "ts, client, plan, event, tool, session, sub, in_bytes, out_bytes, us, err, extra, pos",
        }[kind]
        good = connection.execute(f"select {names} from {kind} order by pos").fetchall()
        ran = connection.execute(
            'select pos, ts, client, plan, event, tool, sub, module, us, bytes, "end" from runs order by pos, module'
        ).fetchall()
        bad = connection.execute('select "offset", bytes, reason from quarantine order by 1').fetchall()
    finally:
        connection.rollback()
    return good, ran, bad


TIMES = [
    "2026-03-01T10:00:00.1Z",
    "2026-03-01T10:00:00.123456Z",
    "2026-03-01T10:00:00.1234567Z",
    "2026-03-01T24:00:00Z",
    "2026-03-01T10:00:60Z",
    "2026-02-29T10:00:00Z",
    "0000-03-01T10:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "10000-01-01T00:00:00Z",
    "2026-03-01 10:00:00",
    "2026-03-01T10:00:00",
    "2026-03-01T10:00:00z",
    "2026-03-01T10:00:00+05:30",
    "20260301T100000Z",
    "2026-03-01",
    "2026-W09-7T10:00:00Z",
    " 2026-03-01T10:00:00Z",
    "infinity",
    "epoch",
]
VALUES = [
    *TIMES,
    "", "x", "deny ", "DENY", "act", "ä", "a\\b", 'a"b', "a\u0001b", "\u0000", "\ud800", "true", "1", "{}",
    10**12, 10**12 + 1,
    None, True, False, 0, 1, 2, -1, 1.0, 1.5, 2**63 - 1, 2**63, 2**64, float("nan"), [], ["x"], {}, {"m": 1},
    {"m": {"us": 1, "bytes": 2, "end": "fire"}}, {"m": {"us": -1, "end": "fire"}}, {"m": {"end": "gone"}},
]  # fmt: skip
BYTES = [b"\0", b"\xff", b"\\", b"\x1f", b"\x7f", b"\t", b"\x0c", b"\x1e", b'"', b"0"]
_ENDED = {"us": 3, "bytes": 0, "end": "none"}
RAN: list[Any] = [
    {"m": _ENDED, "n": {"us": 10**12, "bytes": 10**12 - 1, "end": "fire"}},
    {"m": {"us": 10**12 - 1, "bytes": 7, "end": "timeout"}, "end": {"us": 1, "bytes": 2, "end": "error"}},
    {"m": _ENDED, "": _ENDED}, {"a b": _ENDED, "ä": _ENDED}, {'a"b': _ENDED}, {"a\\b": _ENDED},
    {"m": {**_ENDED, "x": 1}},
    {"m": {"bytes": 0, "us": 3, "end": "none"}}, {"m": {**_ENDED, "us": 1.0}}, {"m": {**_ENDED, "us": None}},
    {"m": None},
    {"}": _ENDED, '{"us':  _ENDED, "$.x": _ENDED, "us": _ENDED, "'": _ENDED},
]  # fmt: skip


def twice_in(line: bytes) -> bytes:
    """A call's line in which the module that ran stands twice."""
    return re.sub(rb'"ran":\{(.+\})\}\}$', rb'"ran":{\1,\1}}', line)


def compact(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def near_misses(usual: dict[str, Any]) -> list[bytes]:
    """Every line one step away from a usual one: a value, a key, an order, a byte."""
    made = [compact({**usual, key: value}) for key in usual for value in VALUES]
    made += [compact({k: v for k, v in usual.items() if k != key}) for key in usual]
    made += [compact({key: usual[key], **usual}) for key in usual]
    plain = compact(usual)
    made += [plain[:-1] + b"," + compact({key: usual[key]})[1:] for key in (*usual, "ts")]
    made += [compact({**usual, "more": value}) for value in VALUES]
    made += [compact({**usual, "ran": ran}) for ran in RAN] + [twice_in(plain), plain.replace(b":", b" \t: \r")]
    made += [plain, plain + b"\r", b" " + plain, plain + b" x", plain + plain, b"[" + plain + b"]", plain[1:], b""]
    made += [plain[:at] for at in range(len(plain))]
    made += [plain[:at] + byte + plain[at:] for at in range(len(plain)) for byte in BYTES]
    made += [json.dumps(usual).encode(), b"null", b"NaN", b"[" * 5000, b'{"a":' * 5000]
    return [line.replace(b"\n", b"") for line in made]


@pytest.mark.parametrize(("kind", "usual"), [("fires", FIRE), ("calls", CALL)])
def test_every_near_miss_is_worth_the_same_by_sql_and_by_python(
    connection: Any, kind: str, usual: dict[str, Any]
) -> None:
    lines_of_python = [line + b"\n" for line in near_misses(usual) if b"\0" in line or not _is_utf8(line)]
    lines_of_sql = [line + b"\n" for line in near_misses(usual) if line + b"\n" not in lines_of_python]
    for raw in (b"".join(lines_of_sql), b"".join(lines_of_python)):
        assert by_database(connection, kind, raw) == by_python(kind, raw)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _logs(usual: dict[str, Any]) -> st.SearchStrategy[bytes]:
    """Logs of usual lines, near misses, and bytes that mean nothing."""
    noise = st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b""))
    text = st.dictionaries(st.sampled_from([*usual, "more"]), st.text() | st.integers() | st.floats(), max_size=2)
    changed = text.map(lambda change: compact({**usual, **change}).replace(b"\n", b""))
    line = st.one_of(st.just(compact(usual)), st.sampled_from(near_misses(usual)), changed, noise)
    return st.lists(line, min_size=1, max_size=12).map(lambda some: b"".join(one + b"\n" for one in some))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(raw=_logs(FIRE))
def test_fires_are_the_same_by_sql_and_by_python(connection: Any, raw: bytes) -> None:
    assert by_database(connection, "fires", raw) == by_python("fires", raw)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(raw=_logs(CALL))
def test_calls_are_the_same_by_sql_and_by_python(connection: Any, raw: bytes) -> None:
    assert by_database(connection, "calls", raw) == by_python("calls", raw)


def test_usual_lines_never_reach_python(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_line: bytes) -> None:
        raise AssertionError("the slow path was taken")

    monkeypatch.setattr(lines, "fire", refuse)
    monkeypatch.setattr(lines, "call", refuse)
    fire = b'{"ts":"2026-03-01T10:00:00.250Z","event":"PreToolUse","module":"m","action":"deny"}\n'
    call = (
        b'{"ts":"2026-03-01T10:00:00Z","v":1,"plan":"0123abcd","client":"claude","event":"Stop","tool":"",'
        b'"session":"s","sub":false,"in":5,"out":0,"us":7,"ran":{}}\n'
    )
    acted = call.replace(b"{}}", b'{"m":{"us":5,"bytes":2,"end":"fire"},"n":{"us":1,"bytes":0,"end":"none"}}}')
    assert len(by_database(connection, "fires", fire * 3)[0]) == 3
    assert len(by_database(connection, "calls", call * 3)[0]) == 3
    rows, ran, _refused = by_database(connection, "calls", (call + acted) * 2)
    assert (len(rows), len(ran)) == (4, 4)


def test_positions_hold_across_pieces(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "PIECE_BYTES", 300)
    made = [
        f'{{"ts":"2026-03-01T10:00:00Z","event":"Stop","module":"{"ü" * (n % 90)}m{n}","action":"act"}}\n'.encode()
        for n in range(50)
    ]
    made[20] = b"torn\n"
    raw = b"".join(made)
    good, _ran, bad = by_database(connection, "fires", raw)
    assert [pos for *_row, pos in good] + [bad[0][0]] == [
        *(len(b"".join(made[:n])) for n in range(50) if n != 20),
        len(b"".join(made[:20])),
    ]


def test_a_piece_of_an_endless_line_is_quarantined_without_being_read(connection: Any, tmp_path: Path) -> None:
    connection.begin()
    loaded = load.load(connection, source("fires"), Chunk(7, b"x" * 10, cut=True), NOW.replace(tzinfo=None))
    rows = connection.execute('select "offset", bytes from quarantine').fetchall()
    connection.rollback()
    assert loaded == (0, 1)
    assert rows == [(7, 10)]
