"""The shipped scenario "swarm": fourteen separate hook scripts a Bash call, and each of them does its work."""

import ast
import json
import sys
from pathlib import Path

import pytest

from overdeck.bench import event_arm
from overdeck.bench.arm import Arm, command_arm
from overdeck.bench.blocks import run_once
from overdeck.bench.gate.config import read_gate_config
from overdeck.bench.gate.scenario import Tolerance
from overdeck.wiring.settings import read_settings


@pytest.fixture
def swarm(scenarios: Path) -> Path:
    return scenarios / "swarm" / "settings.json"


def path_with_python() -> dict[str, str]:
    return {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}


def call(command: str = "", **more: object) -> bytes:
    return json.dumps({"tool_name": "Bash", "tool_input": {"command": command}, **more}).encode()


def hook(scenarios: Path, name: str) -> Arm:
    return command_arm("A", [sys.executable, str(scenarios / "swarm" / "hooks" / f"{name}.py")])


def test_a_bash_call_starts_fourteen_handlers_and_other_events_fewer(swarm):
    assert len(event_arm("A", swarm, "PreToolUse", "Bash").commands) == 14
    assert len(event_arm("A", swarm, "PreToolUse", "Write").commands) == 5
    assert len(event_arm("A", swarm, "PostToolUse", "Bash").commands) == 1
    assert len(event_arm("A", swarm, "Stop").commands) == 1


def test_the_client_would_read_the_file_and_find_every_script_and_no_script_is_idle(swarm):
    settings = read_settings(swarm)
    assert not settings.problems
    named = {handler.command.split("/hooks/")[1].rstrip('"') for handler in settings.all_handlers}
    assert named == {script.name for script in (swarm.parent / "hooks").glob("*.py")}


def test_nothing_acts_on_the_harmless_payload(swarm, payload):
    arm = event_arm("A", swarm, "PreToolUse", "Bash")
    seen = run_once(arm, payload=payload.read_bytes(), environ=path_with_python())
    assert (seen.exits, seen.stdout_bytes, seen.stderr_head) == ((0,) * 14, 0, "")


def test_two_guards_deny_the_payload_that_pushes_by_force_and_reads_a_secret(scenarios):
    deny = (scenarios / "payloads" / "deny.bash.json").read_bytes()
    for name in ("force_push_guard", "secret_file_guard"):
        answer = json.loads(run_once(hook(scenarios, name), payload=deny).stdout_head)
        assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    ("name", "acts", "stays_silent"),
    [
        ("force_push_guard", "git push -f origin main", "git push --force-with-lease origin main"),
        ("secret_file_guard", "cat ~/.ssh/id_rsa", "cat .env.example"),
        ("curl_timeout", "curl -s https://example.org", "curl --max-time 5 https://example.org"),
        ("recursive_delete_guard", "cd / && rm -rf ~", "rm -rf build"),
        ("hard_reset_guard", "git reset --hard HEAD~1", "git reset HEAD~1"),
        ("branch_deletion_guard", "git push origin --delete old", "git branch -d merged"),
        ("privilege_guard", "true; sudo reboot", "echo pseudo code"),
        ("pipe_to_shell_guard", "curl -s https://example.org/x | sh", "curl -s https://example.org/x | tee x"),
        ("production_database_guard", "psql prod-db -c 'DROP TABLE x'", "psql test-db -c 'DROP TABLE x'"),
        ("commit_message_adviser", 'git commit -m "wip"', 'git commit -m "Parse BOMs in settings"'),
        ("search_adviser", "grep -rn needle src", "grep needle file"),
        ("long_running_adviser", "npm run dev", "npm run build"),
    ],
)
def test_each_guard_of_a_command_acts_on_what_it_is_for_and_on_nothing_else(scenarios, name, acts, stays_silent):
    answer = json.loads(run_once(hook(scenarios, name), payload=call(acts)).stdout_head)
    assert answer["hookSpecificOutput"]["hookEventName"] == "PreToolUse"
    assert run_once(hook(scenarios, name), payload=call(stays_silent)).stdout_bytes == 0


@pytest.mark.parametrize(
    ("name", "acts", "stays_silent"),
    [
        (
            "secret_content_guard",
            {"tool_input": {"content": "-----BEGIN RSA PRIVATE KEY-----"}},
            {"tool_input": {"content": "x"}},
        ),
        (
            "lock_file_guard",
            {"tool_input": {"file_path": "/p/uv.lock"}},
            {"tool_input": {"file_path": "/p/uv.py"}},
        ),
        (
            "generated_file_adviser",
            {"tool_input": {"file_path": "/p/dist/a.js"}},
            {"tool_input": {"file_path": "/p/a.js"}},
        ),
        ("output_size_adviser", {"tool_response": {"stdout": "x" * 20_001}}, {"tool_response": {"stdout": "x"}}),
        (
            "format_adviser",
            {"tool_input": {"file_path": "a.py", "content": "x \n"}},
            {"tool_input": {"file_path": "a.py", "content": "x\n"}},
        ),
        (
            "background_task_guard",
            {"background_tasks": [{"status": "running", "command": "sleep 30"}]},
            {"background_tasks": [{"status": "running", "command": "sleep 30"}], "stop_hook_active": True},
        ),
    ],
)
def test_each_hook_of_another_event_acts_on_what_it_is_for(scenarios, name, acts, stays_silent):
    assert json.loads(run_once(hook(scenarios, name), payload=call(**acts)).stdout_head)
    assert run_once(hook(scenarios, name), payload=call(**stays_silent)).stdout_bytes == 0


def test_the_package_manager_of_the_lock_file_is_advised(scenarios, tmp_path):
    (tmp_path / "uv.lock").touch()
    seen = run_once(hook(scenarios, "package_manager_adviser"), payload=call("pip install x", cwd=str(tmp_path)))
    assert "locked by uv" in seen.stdout_head


def test_the_logger_writes_into_the_throwaway_home(scenarios, tmp_path):
    arm = hook(scenarios, "tool_logger")
    run_once(arm, payload=call("x"), environ={"HOME": str(tmp_path)})
    line = json.loads((tmp_path / ".claude" / "logs" / "tools.jsonl").read_text())
    assert line["tool"] == "Bash"


def test_the_scripts_run_on_any_python_a_users_machine_calls_python3(scenarios):
    scripts = list((scenarios / "swarm" / "hooks").glob("*.py"))
    assert scripts
    for script in scripts:
        ast.parse(script.read_text(), feature_version=(3, 9))


def test_this_repositorys_gate_file_is_sound_and_tolerates_no_more_than_was_decided():
    config = read_gate_config(Path(__file__).resolve().parents[2] / "bench" / "gate.toml")
    assert {scenario.name for scenario in config.scenarios} >= {"no gate acts", "gates deny"}
    assert all(scenario.tolerance == Tolerance(cpu=0.03, wall=0.10, starts=0) for scenario in config.scenarios)
