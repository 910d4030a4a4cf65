"""Counts per hour: what the rows say, whatever came when, and longer than the rows are kept."""

import json
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from conftest import User

RAN = {"m": {"us": 4000, "bytes": 10, "end": "fire"}}

FROM_ROWS = {
    "calls": "select date_trunc('hour', ts), client, plan, event, tool, sub, count(*), min(ts), max(ts) "
    "from counted_calls group by all",
    "runs": "select date_trunc('hour', ts), client, plan, event, tool, sub, module, count(*), "
    "count(*) filter (\"end\" = 'error'), count(*) filter (\"end\" = 'timeout'), sum(us), sum(bytes), min(ts), "
    "max(ts) from counted_runs group by all",
    "fires": "select date_trunc('hour', ts), event, module, action, count(*), min(ts), max(ts) "
    "from counted_fires group by all",
}


def counts(user: "User", kind: str) -> list[tuple[object, ...]]:
    return sorted(user.sql(f"from {kind}_by_hour"), key=str)


def assert_counts_are_of_the_rows(user: "User") -> None:
    for kind, query in FROM_ROWS.items():
        assert counts(user, kind) == sorted(user.sql(query), key=str)


@pytest.mark.slow
@pytest.mark.timeout(300)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    ticks=st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(["fire", "call", "ran", "probe", "broken"]),
                st.sampled_from(["a", "b"]),
                st.integers(0, 6 * 3600),
            ),
            max_size=6,
        ),
        max_size=4,
    )
)
def test_whatever_comes_in_whatever_order_the_counts_are_of_the_rows(
    user: "User", tmp_path_factory: pytest.TempPathFactory, ticks: list[list[tuple[str, str, int]]]
) -> None:
    user = type(user)(tmp_path_factory.mktemp("home"))
    for lines in ticks:
        for kind, module, seconds in lines:
            ts = user.ago(seconds=seconds)
            if kind == "fire":
                user.fire(module, ts=ts)
            elif kind == "broken":
                user.append(user.places.fires_log, b"{broken\n")
            else:
                session = "overdeck-doctor" if kind == "probe" else "s-1"
                ran = {} if kind == "call" else {module: {"us": 4000, "bytes": 10, "end": "fire"}}
                user.call(ts=ts, ran=ran, session=session)
        user.tick()
        assert_counts_are_of_the_rows(user)
    if any(ticks):
        before = {kind: counts(user, kind) for kind in FROM_ROWS}
        user.tick(rebuild=True)
        assert {kind: counts(user, kind) for kind in FROM_ROWS} == before


def test_a_probe_that_is_logged_after_its_fire_takes_the_fire_back(user: "User") -> None:
    ts = user.ago(minutes=1)
    user.fire("m", ts=ts)
    user.tick()
    assert user.sql("select sum(n) from fires_by_hour") == [(1,)]
    user.call(ts=ts, ran=RAN, session="overdeck-doctor")
    user.tick()
    assert user.sql("select sum(n) from fires_by_hour") == [(None,)]


def test_windows_that_cut_an_hour_count_its_rows(user: "User") -> None:
    user.module("m")
    plan = user.install()
    user.now = datetime.now(UTC).replace(minute=30, second=0, microsecond=0)
    for minutes in (24 * 60 - 5, 24 * 60 + 5, 24 * 60 + 40):
        user.call(ts=user.ago(minutes=minutes), plan=plan, ran=RAN)
        user.fire("m", ts=user.ago(minutes=minutes))
    row = user.row("m", since=timedelta(days=1))
    assert (row.asked, row.fired, row.context_bytes) == (1, 1, 10)
    row = user.row("m", since=timedelta(days=2))
    assert (row.asked, row.fired, row.context_bytes) == (3, 3, 30)


def test_rows_go_after_their_days_and_their_counts_stay(user: "User") -> None:
    user.config("keep_days = 10\n")
    for days in (0, 9, 11, 40):
        user.fire("m", ts=user.ago(days=days))
        user.call(ts=user.ago(days=days), ran=RAN)
    user.append(user.places.fires_log, b"{broken\n")
    user.tick()
    assert user.sql("select count(*) from fires") == [(2,)]
    assert user.sql("select count(*) from calls") == [(2,)]
    assert user.sql("select count(*) from runs") == [(2,)]
    for kind in FROM_ROWS:
        assert user.sql(f"select sum(n) from {kind}_by_hour") == [(4,)]
    assert user.sql("select fired, ran from module_health") == [(4, 4)]
    user.now += timedelta(days=11)
    user.call(ts=user.ago(minutes=1))
    user.tick()
    assert user.sql("select count(*) from quarantine") == [(0,)]


def test_a_late_line_of_an_hour_without_rows_is_added_to_its_counts(user: "User") -> None:
    user.config("keep_days = 10\n")
    old = user.ago(days=40)
    user.fire("m", ts=old)
    user.fire("m", ts=user.ago(days=1))
    user.tick()
    for _ in range(2):
        user.fire("m", ts=old)
        user.tick()
        user.tick()
    assert user.sql("select sum(n) from fires_by_hour") == [(4,)]
    assert user.sql("select count(*) from fires") == [(1,)]


def test_a_rebuild_keeps_the_counts_of_hours_whose_logs_are_gone(user: "User") -> None:
    user.module("m")
    plan = user.install()
    for days in (40, 1):
        user.fire("m", ts=user.ago(days=days))
        user.call(ts=user.ago(days=days), plan=plan, ran=RAN)
    user.tick()
    for log in (user.places.fires_log, user.places.calls_log):
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[1:]))
    user.tick(rebuild=True)
    for kind in FROM_ROWS:
        assert user.sql(f"select sum(n) from {kind}_by_hour") == [(2,)]
    assert user.row("m", since=timedelta(days=60)).asked == 2
    user.fire("m", ts=user.ago(minutes=1))
    user.tick()
    assert user.sql("select count(*) from fires") == [(2,)], "new lines are rows again"


@pytest.mark.parametrize("table", ['keep_days = "90d"', "keep_days = 0", "keep_dayz = 3", "rotate_mb = -1"])
def test_a_retention_that_is_not_understood_deletes_nothing_and_says_so(user: "User", table: str) -> None:
    user.config(f"{table}\n")
    user.fire("m", ts=user.ago(days=400))
    done = user.tick()
    assert user.sql("select count(*) from fires") == [(1,)]
    assert any("nothing is deleted or rotated" in warning for warning in done.warnings)


def test_a_log_over_its_size_is_rotated_by_rename_and_read_on(user: "User") -> None:
    user.config("keep_days = 100_000\nrotate_mb = 1\n")
    user.fire("m", pad="x" * (1 << 20))
    with user.places.fires_log.open("ab") as writer:
        user.tick()
        (segment,) = user.places.state.glob("hook-fires.jsonl.*")
        assert not user.places.fires_log.exists()
        writer.write(b'{"ts":"2026-11-30T10:00:00Z","event":"Stop","module":"late","action":"act"}\n')
    user.fire("next")
    user.tick()
    assert user.sql("select module from fires order by module") == [("late",), ("m",), ("next",)]
    assert segment.exists()


def test_a_rotated_log_goes_when_it_is_read_and_older_than_the_rows_are_kept(user: "User") -> None:
    user.config("keep_days = 10\nrotate_mb = 1\n")
    user.fire("m", pad="x" * (1 << 20), ts=user.ago(days=20))
    user.call()
    user.tick()
    (segment,) = user.places.state.glob("hook-fires.jsonl.*")
    foreign = segment.with_name("hook-fires.jsonl.1")
    foreign.write_bytes(b'{"ts":"2026-01-01T10:00:00Z","event":"Stop","module":"f","action":"act"}\n')
    user.tick()
    assert segment.exists(), "written just now"
    old = (user.now - timedelta(days=20)).timestamp()
    for path in (segment, foreign):
        os.utime(path, (old, old))
    user.tick()
    user.tick()
    assert (segment.exists(), foreign.exists()) == (False, True), "only what we named ourselves"
    assert user.sql("select sum(n) from fires_by_hour where module = 'm'") == [(1,)]


def test_a_late_probe_is_no_call_of_the_fleet(user: "User") -> None:
    user.config("keep_days = 10\n")
    user.call(ts=user.ago(days=1))
    user.tick()
    old = user.ago(days=200)
    user.call(ts=old, ran=RAN, session="overdeck-doctor")
    user.fire("m", ts=old)
    user.call(ts=user.ago(days=201), ran=RAN)
    user.tick()
    assert user.sql("select sum(n) from runs_by_hour") == [(1,)]
    assert user.sql("select sum(n) from fires_by_hour") == [(None,)]


def test_a_rebuild_made_again_and_again_counts_nothing_twice(user: "User") -> None:
    user.config("keep_days = 10\n")
    for days in (200, 1):
        user.fire("m", ts=user.ago(days=days))
        user.call(ts=user.ago(days=days), ran=RAN)
    user.tick()
    for again in range(3):
        if again == 2:
            user.places.database.unlink()
        user.tick(rebuild=again < 2)
        for kind in FROM_ROWS:
            assert user.sql(f"select sum(n) from {kind}_by_hour") == [(2,)]


def test_one_late_line_does_not_hide_what_the_copy_counted_before(user: "User") -> None:
    gone = user.places.fires_log.with_name("hook-fires.jsonl.1")
    for days in range(41, 61):
        user.append(
            gone, f'{{"ts":"{user.ago(days=days)}","event":"Stop","module":"m","action":"act"}}\n'.encode()
        )
    for days in (80, 1):
        user.fire("m", ts=user.ago(days=days))
    user.tick()
    gone.unlink()
    user.tick(rebuild=True)
    assert user.sql("select sum(n) from fires_by_hour") == [(22,)]
    user.fire("m", ts=user.ago(days=50))
    user.tick()
    user.tick()
    assert user.sql("select sum(n) from fires_by_hour") == [(23,)], "an hour whose logs are gone is added to"


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("fires", '{"ts":"9999-12-31T23:59:59.000Z","event":"Stop","module":"m","action":"act"}'),
        ("fires", '{"ts":"1970-01-01T00:00:00.000Z","event":"Stop","module":"m","action":"act"}'),
        ("fires", '{"ts":"0001-01-01T00:00:00","event":"Stop","module":"m","action":"act"}'),
        ("calls", '"session":"overdeck-x","us":9223372036854775807'),
        ("calls", '"session":"overdeck-x","us":922337203685477580'),
        ("calls", '"ran":{"m":{"us":9223372036854775807,"bytes":0,"end":"fire"}}'),
        ("calls", '"session":"overdeck-x","ts":"9999-12-31T23:59:59.999999"'),
    ],
)
def test_no_line_makes_the_telemetry_unusable(user: "User", log: str, line: str) -> None:
    if log == "fires":
        user.append(user.places.fires_log, (line + "\n").encode() * 2)
    else:
        fields = json.loads("{" + line + "}")
        user.call(**{"times": 2, **fields})
    user.fire("good")
    user.call(ran=RAN)
    user.tick()
    user.fire("good")
    user.tick()
    assert user.sql("select sum(n) from fires_by_hour where module = 'good'") == [(2,)]
    assert user.sql("select count(*) from quarantine") == [(2,)]


def test_a_clock_that_jumped_ahead_once_deletes_nothing(user: "User") -> None:
    user.config("keep_days = 90\nrotate_mb = 1\n")
    user.fire("m", pad="x" * (1 << 20))
    user.call(times=100)
    user.tick()
    now, user.now = user.now, user.now.replace(year=user.now.year + 10)
    user.tick()
    user.now = now
    user.call(times=50)
    user.tick()
    assert user.sql("select count(*) from calls") == [(150,)]
    assert list(user.places.state.glob("hook-fires.jsonl.*"))


def test_archives_of_others_are_not_ours_to_delete(user: "User") -> None:
    user.config("keep_days = 10\n")
    for suffix in ("20260601T1234", "20260601T120000", "2026-06-01", "1"):
        path = user.places.fires_log.with_name(f"hook-fires.jsonl.{suffix}")
        user.append(path, b'{"ts":"2026-01-01T10:00:00Z","event":"Stop","module":"f","action":"act"}\n')
        old = (user.now - timedelta(days=99)).timestamp()
        os.utime(path, (old, old))
    user.tick()
    user.tick()
    assert len(list(user.places.state.glob("hook-fires.jsonl.*"))) == 4
