"""From log lines to verdicts, with a clock of our own."""

import json
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from homes import Home

from overdeck.authoring import canaries
from overdeck.authoring.canaries import Canary
from overdeck.authoring.fleet import load_fleet, recipe_for
from overdeck.dispatch.manifest import Manifest
from overdeck.telemetry.keep import keep, kept, let_go
from overdeck.telemetry.report import last_fires
from overdeck.telemetry.store import reader

if TYPE_CHECKING:
    from conftest import User

FIRED = {"us": 2000, "bytes": 40, "end": "fire"}


def work(user: "User", plan: str, *, days: int, a_day: int = 10) -> None:
    """Calls on each of the last ``days`` days."""
    for day in range(days, 0, -1):
        user.call(plan=plan, ts=user.ago(days=day, minutes=-5), times=a_day)


def test_a_module_that_was_never_seen_in_a_log_has_a_row(user: "User") -> None:
    user.module("never")
    user.call()
    row = user.row("never")
    assert (row.asked, row.fired, row.last_fire, row.verdict) == (0, 0, None, "immature")


def test_without_any_log_every_module_has_a_row_and_is_unknown(user: "User") -> None:
    user.module("a")
    user.module("b", cls="observer")
    user.tick()
    found = user.report()
    assert [(row.id, row.verdict) for row in found.rows] == [("a", "unknown"), ("b", "exempt")]
    assert not found.logged


def test_fires_without_calls_are_counted_and_the_missing_log_is_named(user: "User") -> None:
    user.module("m")
    user.fire("m")
    user.fire("m", action="advise")
    row = user.row("m")
    assert (row.verdict, row.fired, row.deny, row.advise, row.asked) == ("unknown", 2, 1, 1, None)
    assert "hook-calls.jsonl" in row.why


def test_a_module_silent_for_eight_days_is_quiet(user: "User") -> None:
    user.module("m")
    work(user, user.install(), days=9)
    user.fire("m", ts=user.ago(days=8))
    row = user.row("m")
    assert row.verdict == "quiet"
    assert row.why == "0 of 70 asked in 7 days; 95 % upper bound 4.3 %"


def test_a_module_silent_for_thirty_five_days_may_go(user: "User") -> None:
    user.module("m")
    work(user, user.install(), days=36)
    row = user.row("m")
    assert row.verdict == "removal-candidate"
    assert row.why.startswith("0 of 300 asked in 30 days; 95 % upper bound 1 %")
    assert "has not been run" in row.why


def test_a_long_lifetime_is_also_the_time_after_which_it_may_go(user: "User") -> None:
    user.module("m", lifetime=60)
    work(user, user.install(), days=62)
    assert user.row("m").why.startswith("0 of 600 asked in 60 days")


@pytest.mark.parametrize(("passes", "verdict"), [(True, "removal-candidate"), (False, "dead"), (None, None)])
def test_the_canary_of_a_silent_module_decides(user: "User", passes: bool | None, verdict: str | None) -> None:
    user.module("m")
    work(user, user.install(), days=36)
    asked_for = []

    def canary(manifest: Manifest) -> Canary | None:
        asked_for.append(manifest.id)
        return None if passes is None else Canary(passes, user.now - timedelta(days=3))

    row = user.row("m", canary=canary)
    assert row.verdict == (verdict or "removal-candidate")
    assert ("(3 d ago)" in row.why) == (passes is not None)
    assert asked_for == ["m"]


def test_the_last_test_of_a_module_is_its_canary_until_its_files_change(user: "User") -> None:
    user.module("m")
    work(user, user.install(), days=36)
    folder = user.places.user_modules / "m"
    case = {"payload": {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}}
    lines = [case | {"name": "acts", "expect": "deny"}, case | {"name": "is silent", "expect": "none"}]
    (folder / "matrix.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "has not been run" in user.row("m").why
    assert user.run("hooks", "test", "m").code == 1
    row = user.row("m")
    assert row.verdict == "dead" and row.last_canary is not None and not row.last_canary.passed
    (folder / "module.py").write_text("def evaluate(call):\n    return  None\n")
    assert "has not been run" in user.row("m").why


def test_what_is_left_of_a_broken_list_of_canaries_is_no_canary(user: "User") -> None:
    user.module("m")
    work(user, user.install(), days=36)
    files = canaries._files(load_fleet(recipe_for(user.places)).enabled[0])
    broken = ["{", "[]", '{"m": 3}', '{"m": {"passed": true}}', "[" * 100_000]
    broken += [
        json.dumps({"m": {"passed": True, "ts": ts, "files": files}})
        for ts in ("", "yesterday", "0001-01-01T00:00:00+14:00", "2099-01-01T00:00:00+00:00")
    ]
    for content in broken:
        (user.places.state / "canaries.json").write_text(content)
        assert "has not been run" in user.row("m").why


def test_the_canary_of_a_module_that_acts_is_told_and_changes_no_verdict(user: "User") -> None:
    user.module("m")
    work(user, user.install(), days=9)
    user.fire("m")
    failed = Canary(False, user.now - timedelta(days=3))
    row = user.row("m", canary=lambda _manifest: failed)
    assert row.verdict == "active" and row.last_canary == failed


def test_a_lifetime_overrides_the_window(user: "User") -> None:
    user.module("slow", lifetime=30)
    work(user, user.install(), days=32)
    user.fire("slow", ts=user.ago(days=20))
    for since in (timedelta(hours=1), timedelta(days=7), timedelta(weeks=50)):
        assert user.row("slow", since=since).verdict == "active"


def test_a_matcher_that_matches_nothing_is_unreachable(user: "User") -> None:
    user.module("m", events={"PreToolUse": "bash"})
    work(user, user.install(), days=9)
    row = user.row("m")
    assert row.verdict == "unreachable"
    assert row.why == "0 asked while its events happened 70 times: no call matched PreToolUse: bash"


def test_a_short_window_alone_makes_nothing_unreachable(user: "User") -> None:
    user.module("m", events={"PreToolUse": "Write"})
    plan = user.install()
    work(user, plan, days=9)
    user.call(plan=plan, tool="Write", ts=user.ago(days=2))
    user.call(plan=plan)
    user.fire("m", ts=user.ago(days=2))
    assert user.row("m", since=timedelta(minutes=30)).verdict == "active"


def test_a_main_agent_module_in_subagent_calls_only_is_not_unreachable(user: "User") -> None:
    user.module("m", main_only=True)
    plan = user.install()
    user.call(plan=plan, ts=user.ago(days=9), sub=True)
    user.call(plan=plan, ts=user.ago(days=1), sub=True, times=50)
    row = user.row("m")
    assert (row.asked, row.verdict) == (0, "unknown")


def test_errors_and_timeouts_make_it_broken(user: "User") -> None:
    user.module("m")
    plan = user.install()
    work(user, plan, days=9)
    user.fire("m")
    user.call(plan=plan, ran={"m": {"us": 9000, "bytes": 0, "end": "error"}})
    user.call(plan=plan, ran={"m": {"us": 9000, "bytes": 0, "end": "timeout"}})
    row = user.row("m")
    assert (row.errors, row.timeouts, row.verdict) == (1, 1, "broken")


def test_a_module_that_fires_all_the_time_is_noisy(user: "User") -> None:
    user.module("m")
    plan = user.install()
    user.call(plan=plan, ts=user.ago(days=8))
    user.call(plan=plan, times=10)
    for _ in range(3):
        user.fire("m")
    assert user.row("m").verdict == "noisy"


def test_enabled_since_is_the_earliest_evidence(user: "User") -> None:
    user.module("m")
    user.tick()
    assert user.report().rows[0].enabled_since is not None
    user.call(plan=user.install(), ts=user.ago(days=40))
    row = user.row("m")
    assert row.enabled_since is not None
    assert (user.now - row.enabled_since).days == 40


def test_durations_share_and_bytes_come_from_the_runs(user: "User") -> None:
    user.module("a")
    user.module("b")
    plan = user.install()
    user.call(
        plan=plan,
        ran={"a": {"us": 3000, "bytes": 100, "end": "fire"}, "b": {"us": 1000, "bytes": 0, "end": "none"}},
    )
    row = user.row("a")
    assert (row.p50_ms, row.p99_ms, row.share, row.context_bytes) == (3.0, 3.0, 0.75, 100)


def test_the_window_limits_the_counts_and_not_the_last_fire(user: "User") -> None:
    user.module("m")
    plan = user.install()
    user.call(plan=plan, ts=user.ago(days=3), ran={"m": FIRED})
    user.fire("m", ts=user.ago(days=3))
    user.call(plan=plan)
    row = user.row("m", since=timedelta(hours=12))
    assert (row.asked, row.fired) == (1, 0)
    assert row.last_fire is not None


def test_one_event_can_be_looked_at_alone(user: "User") -> None:
    user.module("m", events={"PreToolUse": "Bash", "PostToolUse": "Bash"})
    user.module("other", events={"Stop": "*"})
    before, after = user.install(), user.install("PostToolUse")
    user.call(plan=before, times=3)
    user.call(plan=after, event="PostToolUse", times=5)
    user.fire("m", event="PostToolUse")
    user.tick()
    rows = user.report(event="PostToolUse").rows
    assert [(row.id, row.asked, row.fired) for row in rows] == [("m", 5, 1)]


def test_modules_that_are_off_show_only_when_all_are_asked_for(user: "User") -> None:
    user.module("on")
    user.fire("gone")
    user.call()
    user.tick()
    assert [row.id for row in user.report().rows] == ["on"]
    rows = user.report(everything=True).rows
    assert [(row.id, row.enabled, row.fired) for row in rows] == [("on", True, 0), ("gone", False, 1)]


def test_the_owners_word_exempts_and_outlives_a_rebuild(user: "User") -> None:
    user.module("m")
    work(user, user.install(), days=9)
    assert user.row("m").verdict == "quiet"
    keep(user.places, "m", "the auditors want it", user.now)
    user.tick(rebuild=True)
    row = user.row("m")
    assert row.verdict == "exempt"
    assert row.why == f"kept by its owner: the auditors want it ({user.now:%Y-%m-%d})"
    assert let_go(user.places, "m")
    assert not let_go(user.places, "m")
    assert kept(user.places) == {}
    assert user.row("m").verdict == "quiet"


def test_a_first_seen_day_survives_a_rebuild(user: "User") -> None:
    user.module("m")
    user.call()
    user.tick()
    user.now += timedelta(days=20)
    user.tick(rebuild=True)
    row = user.row("m")
    assert row.enabled_since is not None
    assert (user.now - row.enabled_since).days == 20


def test_last_fires_are_newest_first(user: "User") -> None:
    for hours in (3, 1, 2):
        user.fire("m", ts=user.ago(hours=hours), action="act")
    user.fire("other")
    user.tick()
    with reader(user.places) as published:
        fires = last_fires(published.connection, "m", 2)
    assert [round((user.now - fire.ts).total_seconds() / 3600) for fire in fires] == [1, 2]
    assert {(fire.event, fire.action) for fire in fires} == {("PreToolUse", "act")}


def test_a_module_that_was_off_for_a_while_is_judged_from_its_return(user: "User") -> None:
    user.module("m")
    work(user, user.install(), days=36)
    assert user.row("m").verdict == "removal-candidate"
    folder = user.places.user_modules / "m"
    away = folder.rename(user.places.home / "away")
    user.now += timedelta(days=60)
    user.tick()
    away.rename(folder)
    user.now += timedelta(days=1)
    user.call(plan=user.install(), ts=user.ago(hours=1), times=50)
    row = user.row("m")
    assert (row.verdict, row.why) == ("immature", "enabled for 0 s of its 7 days")
    user.now += timedelta(days=8)
    user.call(plan=user.install(), ts=user.ago(hours=1))
    user.tick(rebuild=True)
    assert user.row("m").verdict == "quiet", "a rebuild does not forget that it was away"


def test_a_module_under_a_new_name_starts_again(user: "User") -> None:
    user.module("old")
    work(user, user.install(), days=36)
    user.tick()
    shutil.rmtree(user.places.user_modules / "old")
    user.module("new")
    user.call(plan=user.install())
    rows = {row.id: row for row in (user.tick(), user.report(everything=True))[1].rows}
    assert (rows["new"].verdict, rows["old"].enabled) == ("immature", False)


def test_the_logs_of_two_hosts_count_together(user: "User") -> None:
    user.module("m")
    plan = user.install()
    first = user.ago(hours=2)
    for host in ("", ".other-host"):
        log = user.places.fires_log.with_name(user.places.fires_log.name + host)
        for ts in (first, user.ago(minutes=1)):  # both begin with the same line
            user.append(log, f'{{"ts":"{ts}","event":"PreToolUse","module":"m","action":"deny"}}\n'.encode())
    user.call(plan=plan, times=9)
    row = user.row("m")
    assert (row.fired, row.asked) == (4, 9)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "UTC"])
def test_the_hour_that_summer_time_repeats_is_two_hours(user: "User", zone: str) -> None:
    user.module("m")
    for ts in ("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"):
        user.fire("m", ts=ts)
    user.call()
    query = "select count(*) as hours, sum(n)::bigint as n from fires_by_hour"
    done = Home(user.home).run("overdeck", "fires", "sql", query, "--json", env={"TZ": zone})
    assert done.document["data"]["rows"] == [[4, 4]]
    rows = Home(user.home).run("overdeck", "fires", "--since", "52w", "--json", env={"TZ": zone}).document["data"]
    assert rows["modules"][0]["last_fire"] == "2026-11-01T06:30:00.000Z"
