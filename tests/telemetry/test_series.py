"""Fires and costs day by day, and what a whole report adds to a row."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from overdeck.telemetry.series import DAYS, module_costs
from overdeck.telemetry.store import reader
from overdeck.telemetry.words import sparkline

if TYPE_CHECKING:
    from conftest import User

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def noon(user: "User") -> "User":
    user.now = NOON
    return user


def test_each_day_of_the_last_thirty_has_its_fires(noon: "User") -> None:
    noon.module("m")
    for ago in ({"hours": 1}, {"hours": 11}, {"hours": 13}, {"days": 29}, {"days": 30}, {"days": 31}):
        noon.fire("m", ts=noon.ago(**ago))

    daily = noon.row("m", whole=True).daily

    assert len(daily) == DAYS
    assert (daily[0], daily[-2], daily[-1]) == (1, 1, 2)
    assert sum(daily) == 4


def test_a_fire_of_tomorrow_is_in_no_day(noon: "User") -> None:
    noon.module("m")
    noon.fire("m", ts=noon.ago(days=-1))

    assert noon.row("m", whole=True).daily == (0,) * DAYS


def test_days_are_of_one_event_where_one_is_asked_for(noon: "User") -> None:
    noon.module("m", events={"PreToolUse": "Bash", "Stop": "*"})
    noon.fire("m", event="Stop")
    noon.fire("m", event="PreToolUse")

    assert noon.row("m", whole=True, event="Stop").daily[-1] == 1
    assert noon.row("m", whole=True).daily[-1] == 2


def test_the_cost_of_a_day_is_of_its_timed_runs(noon: "User") -> None:
    noon.module("m")
    for us in (1000, 2000, 3000):
        noon.call(ran={"m": {"us": us, "bytes": 0, "end": "none"}}, ts=noon.ago(hours=2))
    noon.call(ran={"m": {"us": 9000, "bytes": 0, "end": "none"}}, ts=noon.ago(days=1))
    noon.call(ran={"other": {"us": 50_000, "bytes": 0, "end": "none"}}, ts=noon.ago(hours=2))
    noon.tick()

    with reader(noon.places) as published:
        yesterday, today = module_costs(published.connection, "m", NOON)

    assert (yesterday.runs, yesterday.p50_ms, yesterday.total_ms) == (1, 9.0, 9.0)
    assert (today.day.isoformat(), today.runs, today.p50_ms, today.total_ms) == ("2026-11-30", 3, 2.0, 6.0)
    assert today.p95_ms == pytest.approx(2.9)


def test_a_day_with_one_fire_among_many_is_told_from_a_day_without() -> None:
    assert sparkline([0, 1, 10_000], 3) == "·▁█"


def test_a_sparkline_is_as_wide_as_asked_for_whatever_the_number_of_days() -> None:
    assert {len(sparkline(range(n), width)) for n in (0, 1, 29, 30, 31) for width in (10,)} == {10}
    assert sparkline([9, 0, 0, 9], 3) == "·██", "the newest days fill the last place"
