"""Any mix of valid, torn, doubled, reordered and rotated lines gives the tables that one reading from scratch gives."""

import json
import shutil
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from conftest import User

TABLES = ("fires", "calls", "runs", "asked", "calls_by_hour", "runs_by_hour", "fires_by_hour", "quarantine")
NAMES_THE_READING = ("source", "pos", "offset", "file", "path", "seen", "at")
"""Columns that say where or when a line was read, not what it says."""


def whole_lines(log: str, number: int, seconds: int) -> bytes:
    """A line that is good, but for every seventh: unknown keys, unknown actions, a wrong type, no JSON."""
    ts = f"2026-03-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.000Z"
    line: dict[str, Any]
    if log == "hook-fires.jsonl":
        line = {"ts": ts, "event": "Stop", "module": f"m{number % 3}", "action": "deny"}
        line |= ({"new": [1]}, {"action": "dance"}, {"module": 5}, {}, {}, {}, {})[number % 7]
    else:
        line = {
            "ts": ts, "v": 1, "plan": "0123abcd", "client": "claude", "event": "PreToolUse", "tool": "Bash",
            "session": "overdeck-doctor" if number % 5 == 0 else "s-1", "sub": False, "in": 5, "out": 0, "us": 900,
            "ran": {"m1": {"us": 4, "bytes": 2, "end": "fire"}} if number % 2 else {},
        }  # fmt: skip
        line |= ({"later": 1}, {"us": "x"}, {"v": None}, {}, {}, {}, {})[number % 7]
    return b"no json\n" if number % 11 == 10 else json.dumps(line, separators=(",", ":")).encode() + b"\n"


def tables(user: "User") -> dict[str, list[tuple[object, ...]]]:
    """Every table as a sorted list of rows, of the columns that two readings must agree on."""
    found = {}
    for table in TABLES:
        columns = [row[0] for row in user.sql(f"describe {table}") if row[0] not in NAMES_THE_READING]
        quoted = ", ".join(f'"{column}"' for column in columns)
        found[table] = sorted(user.sql(f"select {quoted} from {table}"), key=repr)
    return found


def rotate(log: Path) -> None:
    """By rename, as logrotate numbers: .1 becomes .2, and so on, then the log becomes .1."""
    for number in range(9, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        if older.exists():
            older.rename(log.with_name(f"{log.name}.{number + 1}"))
    if log.exists():
        log.rename(log.with_name(f"{log.name}.1"))


FIRES, CALLS = "hook-fires.jsonl", "hook-calls.jsonl"
_LOG = st.sampled_from([FIRES, CALLS])
_STEP = st.one_of(
    st.tuples(st.just("lines"), _LOG, st.lists(st.integers(0, 6 * 3600), min_size=1, max_size=4)),
    st.tuples(st.just("torn"), _LOG, st.integers(1, 200)),
    st.tuples(st.just("rest"), _LOG, st.none()),
    st.tuples(st.just("again"), _LOG, st.integers(1, 3)),
    st.tuples(st.just("rotate"), _LOG, st.none()),
    st.tuples(st.just("tick"), _LOG, st.none()),
)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@example(
    steps=[
        ("lines", FIRES, [60, 30]),
        ("torn", FIRES, 40),
        ("tick", FIRES, None),
        ("rest", FIRES, None),
        ("again", FIRES, 2),
        ("rotate", FIRES, None),
        ("lines", FIRES, [9]),
        ("rotate", FIRES, None),
        ("lines", FIRES, [8, 7]),
        ("tick", FIRES, None),
        ("torn", FIRES, 20),
        ("lines", CALLS, [5, 4, 3]),
    ]
)
@given(steps=st.lists(_STEP, min_size=1, max_size=14))
def test_any_mix_of_lines_and_rotations_equals_a_reading_from_scratch(
    user: "User", tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, Any]]
) -> None:
    here = type(user)(tmp_path_factory.mktemp("here"))
    numbers = count()
    written: dict[str, list[bytes]] = {}
    rest: dict[str, bytes] = {}
    for kind, name, what in steps:
        log = here.places.state / name
        if kind == "lines":
            for seconds in what:
                raw = whole_lines(name, next(numbers), seconds)
                here.append(log, raw)
                written.setdefault(name, []).append(raw)
        elif kind == "torn":
            raw = whole_lines(name, next(numbers), 60)
            cut = min(what, len(raw) - 1)
            here.append(log, raw[:cut])
            rest[name] = raw[cut:]
        elif kind == "rest":
            here.append(log, rest.pop(name, b""))
        elif kind == "again":
            here.append(log, b"".join(written.get(name, [])[-what:]))
        elif kind == "rotate":
            rotate(log)
        else:
            here.tick()
    for name in (FIRES, CALLS):
        here.append(here.places.state / name, b"\n")  # what is still torn is now a broken line, in both readings
    here.tick()
    scratch = type(user)(tmp_path_factory.mktemp("scratch"), now=here.now)
    for file in here.places.state.glob("hook-*.jsonl*"):
        shutil.copy2(file, scratch.places.state / file.name)
    scratch.tick()

    for table in ("fires", "calls"):
        lines, places = here.sql(f"select count(*), count(distinct (source, pos)) from {table}")[0]
        assert lines == places, "source (one a generation) and offset name one line"
    grown = tables(here)
    assert grown == tables(scratch)
    here.tick(rebuild=True)
    assert tables(here) == grown
