"""Calls per second and cost per event, followed line by line as a log grows."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.paths import Places
from overdeck.telemetry import tail
from overdeck.telemetry.livecalls import BUCKETS, SeenCall, event_costs, follow, history, quantile

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places.from_environment({"HOME": str(tmp_path)})
    made.state.mkdir(parents=True)
    return made


def log(places: Places, ago_s: float, event: str = "PreToolUse", us: int | None = 1000, **ran: str) -> None:
    line = {
        "ts": (NOW - timedelta(seconds=ago_s)).isoformat(),
        "v": 1,
        "plan": "",
        "client": "claude",
        "event": event,
        "us": us,
        "ran": {id: {"us": 1, "bytes": 0, "end": end} for id, end in ran.items()},
    }
    with places.calls_log.open("a") as out:
        out.write(json.dumps(line) + "\n")


def test_the_last_minute_is_counted_at_the_first_look(places: Places) -> None:
    log(places, 61)
    for ago in (59, 30, 1):
        log(places, ago, us=2000)
    live, _ = follow(places, NOW)

    assert (live.calls, live.span_s, live.per_s) == (3, 60.0, 0.05)
    assert live.ms_per_s == pytest.approx(0.1)


def test_calls_leave_the_window_and_new_ones_come(places: Places) -> None:
    log(places, 50)
    live, followed = follow(places, NOW)
    assert live.calls == 1
    log(places, -19)
    live, followed = follow(places, NOW + timedelta(seconds=20), followed)
    assert live.calls == 1
    live, _ = follow(places, NOW + timedelta(seconds=100), followed)
    assert live.calls == 0 and live.last is not None


def test_events_are_told_apart_the_dearest_first(places: Places) -> None:
    for us in (1000, 3000, 8000):
        log(places, 5, us=us, guard="fire", other="none")
    log(places, 5, "Stop", us=40_000, guard="timeout")
    log(places, 5, "Stop", us=None, guard="error")
    live, _ = follow(places, NOW)
    stop, pre = live.events

    assert (stop.event, stop.calls, stop.fired, stop.failed) == ("Stop", 2, 0, 2)
    assert (pre.event, pre.calls, pre.p50_ms, pre.p95_ms, pre.fired) == ("PreToolUse", 3, 3.0, 8.0, 3)
    assert (stop.share, pre.share) == (pytest.approx(40 / 52), pytest.approx(12 / 52))


def test_damaged_lines_are_counted_and_harm_nothing(places: Places) -> None:
    log(places, 5)
    with places.calls_log.open("a") as out:
        out.write("nonsense\n\n")
    live, followed = follow(places, NOW)
    assert (live.calls, live.damaged) == (1, 2)
    assert follow(places, NOW, followed)[0].damaged == 2


def test_a_rate_is_of_the_time_that_was_read_where_a_busy_log_was_not_read_from_a_minute_ago(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tenth in range(200, 0, -1):
        log(places, tenth / 10)
    monkeypatch.setattr(tail, "BACK_BYTES", places.calls_log.stat().st_size // 2)
    live, followed = follow(places, NOW)

    assert live.span_s == pytest.approx(10, abs=0.2)
    assert live.per_s == pytest.approx(10, rel=0.03)
    live, _ = follow(places, NOW + timedelta(seconds=10), followed)
    assert live.span_s == pytest.approx(20, abs=0.2)


def test_without_a_log_there_is_no_last_call(places: Places) -> None:
    live, _ = follow(places, NOW)
    assert (live.calls, live.last, live.events, live.history) == (0, None, (), (0,) * BUCKETS)


def test_history_ends_now_and_forgets_what_is_older() -> None:
    now = NOW.replace(tzinfo=None)
    seen = [SeenCall(now - timedelta(seconds=ago), "Stop", 1, 0, 0) for ago in (-5, 0, 2.9, 3, 59.9, 60, 600)]
    counts = history(seen, now)

    assert (counts[-1], counts[-2], counts[0], sum(counts)) == (3, 1, 1, 5)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_a_quantile_is_one_of_the_values_and_enough_are_not_above_it(values: list[float], share: float) -> None:
    found = quantile(sorted(values), share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


def test_nothing_costs_nothing() -> None:
    assert event_costs([], 60.0) == ()
