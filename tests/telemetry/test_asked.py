"""Who was asked, derived from the plan a call names."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from fronts import Front

from overdeck.dispatch.plan import parse
from overdeck.telemetry import routes
from overdeck.telemetry.routes import kept_plan

if TYPE_CHECKING:
    from conftest import User


def asked(user: "User") -> dict[str, int]:
    user.tick()
    return dict(user.sql("select module, count(*) from asked group by module order by module"))


def test_a_call_asks_the_modules_whose_matcher_matches_its_tool(user: "User") -> None:
    user.module("bash", events={"PreToolUse": "Bash"})
    user.module("edits", events={"PreToolUse": "Write|Edit"})
    user.module("all", events={"PreToolUse": "*"})
    user.module("mcp", events={"PreToolUse": "mcp__.*"})
    user.module("after", events={"PostToolUse": "Bash"})
    plan = user.install()
    user.call(plan=plan, tool="Bash", times=3)
    user.call(plan=plan, tool="Edit")
    user.call(plan=plan, tool="mcp__files__read", times=2)
    assert asked(user) == {"all": 6, "bash": 3, "edits": 1, "mcp": 2}


def test_a_module_for_the_main_agent_is_not_asked_in_a_subagent(user: "User") -> None:
    user.module("everywhere")
    user.module("main", main_only=True)
    plan = user.install()
    user.call(plan=plan, sub=True)
    user.call(plan=plan, sub=False)
    assert asked(user) == {"everywhere": 2, "main": 1}


def test_a_call_without_a_tool_asks_everyone(user: "User") -> None:
    user.module("start", events={"SessionStart": "resume"})
    plan = user.install("SessionStart")
    user.call(plan=plan, event="SessionStart", tool="")
    user.call(plan=plan, event="SessionStart", tool=None)
    assert asked(user) == {"start": 2}


def test_under_a_plan_that_is_gone_only_those_that_ran_count_and_it_is_said(user: "User") -> None:
    user.module("m")
    plan = user.install()
    for path in user.places.plans().glob("history/*.plan"):
        path.unlink()
    user.call(plan=plan, times=5)
    user.call(plan=plan, ran={"m": {"us": 5, "bytes": 0, "end": "none"}}, times=2)
    done = user.tick()
    assert any("not kept any more" in warning for warning in done.warnings)
    assert asked(user) == {"m": 2}


def test_a_plan_that_turns_up_later_is_used_for_the_calls_before(user: "User") -> None:
    user.module("m")
    plan = user.install()
    path = user.places.plans() / "history" / f"{plan}.plan"
    raw = path.read_bytes()
    path.unlink()
    user.call(plan=plan, times=5)
    assert asked(user) == {}
    path.write_bytes(raw)
    assert asked(user) == {"m": 5}


def test_a_module_that_ran_is_counted_once_though_its_plan_names_it(user: "User") -> None:
    user.module("m")
    plan = user.install()
    user.call(plan=plan, ran={"m": {"us": 5, "bytes": 0, "end": "fire"}}, times=4)
    assert asked(user) == {"m": 4}
    assert user.row("m").asked == 4


def test_a_call_without_any_plan_asked_nobody(user: "User") -> None:
    user.module("m")
    user.call(plan="", err="no plan")
    done = user.tick()
    assert done.warnings == ()
    assert asked(user) == {}


def test_a_log_line_cannot_name_a_plan_outside_the_plans_folder(user: "User") -> None:
    user.module("m")
    plan = user.install()
    outside = user.home / "00000000.plan"
    outside.write_bytes((user.places.plans() / "history" / f"{plan}.plan").read_bytes())
    assert kept_plan(user.places, "claude", plan) is not None
    for client, crc in [("claude", "../../../00000000"), ("../../..", "00000000"), ("claude", plan[:-1] + "?")]:
        assert kept_plan(user.places, client, crc) is None


def test_the_report_and_the_view_count_alike(user: "User") -> None:
    user.module("bash")
    user.module("all", events={"PreToolUse": "*", "PostToolUse": "*"})
    plan = user.install()
    after = user.install("PostToolUse")
    user.call(plan=plan, times=4)
    user.call(plan=plan, tool="Write", times=2)
    user.call(plan=after, event="PostToolUse", times=3)
    user.call(plan="deadbeef", ran={"bash": {"us": 1, "bytes": 0, "end": "error"}})
    by_view = asked(user)
    assert by_view == {"all": 9, "bash": 5}
    assert {id: user.row(id).asked for id in by_view} == by_view
    assert dict(user.sql("select module, asked from module_health")) == by_view


def test_our_own_probes_are_taken_in_and_count_for_nothing(user: "User") -> None:
    user.module("m")
    plan = user.install()
    user.call(plan=plan, ts=user.ago(days=2))
    for session in ("overdeck-doctor", "overdeck-audit"):
        user.call(plan=plan, session=session, ran={"m": {"us": 5, "bytes": 9, "end": "fire"}})
    user.fire("m")
    row = user.row("m")

    assert (row.asked, row.fired, row.context_bytes, row.last_fire) == (1, 0, 0, None)
    assert row.last_asked == (user.now - timedelta(days=2)).replace(
        microsecond=user.now.microsecond // 1000 * 1000
    )
    assert asked(user) == {"m": 1}
    assert user.sql("select asked, fired, ran from module_health") == [(1, 0, 0)]
    assert user.sql("select count(*) from calls") == [(3,)]


def test_a_fire_of_an_agent_counts_also_when_we_probed_a_minute_later(user: "User") -> None:
    user.module("m")
    plan = user.install()
    user.call(plan=plan, session="overdeck-doctor", ran={"m": {"us": 5, "bytes": 9, "end": "fire"}})
    user.fire("m", ts=user.ago(minutes=2))
    user.fire("m")

    assert user.row("m").fired == 1


def test_calls_of_another_client_ask_by_its_own_names(tmp_path: Path) -> None:
    front = Front(tmp_path, client="codex")
    front.module("files", "return None", events={"PreToolUse": "Write"})
    front.module("regex", "return None", events={"PreToolUse": "^(Edit|mcp__demo__.*)$"})
    front.install()
    plan = parse((front.plans / "PreToolUse.plan").read_bytes())
    assert routes.asked(plan, "apply_patch", False) == ["files", "regex"]
    assert routes.asked(plan, "mcp__demo__echo", False) == ["regex"]
    assert routes.asked(plan, "Bash", False) == []
