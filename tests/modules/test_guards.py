"""What a matrix of single payloads cannot show of the guards: state, processes, the config of the owner."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, bash, names_of

from overdeck.dispatch import planning
from overdeck.dispatch.module import Call
from overdeck.paths import shipped


def agent(**extra: Any) -> dict[str, Any]:
    return {**bash("x"), "tool_name": "Agent", "tool_input": {"prompt": "p", "subagent_type": "Explore"}, **extra}


def test_the_client_and_its_parents_are_not_killed_by_number(guards: Front) -> None:
    reply = guards.call(bash(f"kill -9 {os.getpid()}"))
    assert "a parent of it" in reply.reason
    assert guards.call(bash(f"kill -0 {os.getpid()}")).decision == ""


def test_subagents_over_the_minutes_limit_wait(configured: Front) -> None:
    configured.config.write_text("[modules.agent-guard]\nper_minute = 2\n")
    configured.install()
    assert [configured.call(agent()).decision for _ in range(3)] == ["", "", "deny"]
    assert configured.call(agent(session_id="another")).decision == ""


def test_of_subagents_started_at_once_no_more_than_the_limit_start(tmp_path: Path) -> None:
    evaluate = names_of("agent-guard")["evaluate"]
    config = {"per_minute": 20, "per_session": 0, "nested": True, "denied_types": []}
    payload = agent()

    def starts() -> bool:
        given = {"client": "claude", "event": "PreToolUse", "tool": "Agent", "subagent": False, "config": config}
        return evaluate(Call(**given, input=payload["tool_input"], payload=payload, state=f"{tmp_path}/s")) is None

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: starts(), range(60))) == 20


def test_refused_subagents_are_not_counted(configured: Front) -> None:
    configured.config.write_text("[modules.agent-guard]\nper_session = 1\n")
    configured.install()
    refused = agent()
    refused["tool_input"]["resume"] = True
    assert [configured.call(one).decision for one in (refused, agent(), agent())] == ["deny", "", "deny"]


def test_a_tool_is_suggested_once_a_session_for_each_rule(guards: Front) -> None:
    assert "edit tools" in guards.call(bash("vim x")).context
    assert guards.call(bash("nano y")).context == ""
    assert "never ends" in guards.call(bash("journalctl -f")).context
    assert "edit tools" in guards.call(bash("vim x", session_id="another")).context


def test_near_the_process_limit_many_at_once_are_refused() -> None:
    names = names_of("pids-cap")
    files = {
        "/proc/self/cgroup": "0::/user.slice/session\n",
        "/sys/fs/cgroup/user.slice/session/pids.max": "max\n",
        "/sys/fs/cgroup/user.slice/pids.max": "1000\n",
        "/sys/fs/cgroup/user.slice/pids.current": "950\n",
    }
    names["_read"] = lambda path: files.get(path, "")
    assert names["_room"]() == (950, 1000)
    files["/proc/self/cgroup"] = "9:pids:/x\n0::/\n"
    assert names["_room"]() == (0, 0)


def test_rules_of_the_owner_stand_beside_the_shipped_ones(configured: Front) -> None:
    configured.config.write_text(
        '[modules.deny.rules.prod]\npattern = "kubectl --context"\nreason = "ask Ann"\n'
        "[modules.deny.rules.lock-out]\noff = true\n"
    )
    configured.install()
    assert "ask Ann" in configured.call(bash("kubectl --context=prod get pods")).reason
    assert configured.call(bash("rm -rf /")).decision == "deny"
    assert configured.call(bash("crontab -r")).decision == ""


def test_the_rules_in_the_readme_are_rules(configured: Front) -> None:
    readme = Path(__file__).resolve().parents[2] / "README.md"
    block = (
        readme.read_text("utf-8")
        .partition("## Rules of your own")[2]
        .partition("```toml\n")[2]
        .partition("```")[0]
    )
    configured.config.write_text(block)
    assert planning.load(configured.recipe).problems == []
    configured.install()
    assert "Ann" in configured.call(bash("helm uninstall web")).reason


def test_a_rule_with_a_rewrite_rewrites_and_denies_only_what_cannot_be_rewritten(configured: Front) -> None:
    configured.config.write_text(
        '[modules.deny.rules.uv]\npattern = "pip install"\nreason = "this house uses uv"\nrewrite = "uv pip install"\n'
    )
    configured.install()
    assert configured.call(bash("ls; pip install x")).specific["updatedInput"]["command"] == "ls; uv pip install x"
    reply = configured.call(bash("bash -c 'pip install x'"))
    assert reply.decision == "deny"
    assert "Write instead: uv pip install" in reply.reason


def test_a_broken_rule_keeps_the_last_good_plan_and_says_so(configured: Front) -> None:
    configured.install()
    configured.config.write_text('[modules.deny.rules.x]\npattern = "a <moon>"\nreason = "r"\n')
    reply = configured.call(bash("rm -rf /"))
    assert reply.decision == "deny"
    assert "<moon> is not one of root, device" in (configured.state / "errors" / "overdeck.jsonl").read_text()


def test_modules_without_a_rule_for_an_event_are_in_no_plan(guards: Front) -> None:
    plan = (guards.plans / "PreToolUse.plan").read_text()
    assert "module deny gate" in plan
    assert "module deny-rewrite" not in plan
    assert "module output-filter" not in plan


@pytest.mark.parametrize("module", ["deny", "human-kill", "pids-cap", "secret-file", "skill-guard", "agent-guard"])
def test_guards_that_protect_whoever_calls_are_on_in_subagents_too(module: str) -> None:
    """od-hooks: only what is between the main agent and the owner is for the main agent alone."""
    assert "main_only" not in Path(shipped("modules", module, "module.toml")).read_text()
