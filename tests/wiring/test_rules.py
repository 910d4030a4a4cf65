"""Where the rules about settings draw their lines; each one's page is tested in test_rule_pages."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from overdeck.wiring.rules import RULES, Context, apply
from overdeck.wiring.rules.unstarted import code_without
from overdeck.wiring.settings import read_settings

PATH = f"/usr/local/bin:{os.defpath}"
TRUE = {"type": "command", "command": "true"}


def hooks(event: str = "PreToolUse", matcher: str | None = "Bash", **hook: Any) -> dict[str, Any]:
    group: dict[str, Any] = {"hooks": [TRUE | hook]}
    if matcher is not None:
        group["matcher"] = matcher
    return {"hooks": {event: [group]}}


def found(settings, data: dict[str, Any], rule: str) -> list[Any]:
    files = (settings(data),)
    return [finding for finding in apply(RULES, Context(files, path=PATH)) if finding.rule == rule]


def test_errors_come_before_warnings(settings):
    data = hooks("PreToolUse", "Bash[", timeout=5000)
    severities = [finding.severity for finding in apply(RULES, Context((settings(data),)))]

    assert severities == ["error", "warning"]


@pytest.mark.parametrize("matcher", ["Bash(echo *)", "Bash(npm:*)", "tool_name == 'Edit'"])
def test_a_condition_as_matcher_is_one_finding_not_two(settings, matcher):
    rules = [finding.rule for finding in apply(RULES, Context((settings(hooks(matcher=matcher)),)))]

    assert rules == ["expression-matcher"]


def test_the_fix_of_a_permission_rule_names_its_tool(settings):
    assert found(settings, hooks(matcher="Bash(echo *)"), "expression-matcher")[0].fix.startswith(
        '"matcher": "Bash"'
    )


def test_a_group_that_only_python_has_is_an_invalid_regex(settings):
    assert found(settings, hooks(matcher="(?i)bash"), "invalid-regex")


@pytest.mark.parametrize("matcher", [r"(?<name>Bash)\k<name>", "[^]", r"\cA"])
def test_a_regex_that_only_javascript_has_is_not_judged(settings, matcher):
    assert not found(settings, hooks(matcher=matcher), "invalid-regex")


def test_an_unknown_event_is_given_its_nearest_name(settings):
    assert "PreToolUse" in found(settings, hooks("pre-tool-use"), "unknown-event")[0].fix


def test_a_missing_script_behind_an_interpreter_never_starts(settings, tmp_path: Path):
    data = hooks(command="python3", args=[str(tmp_path / "gone.py")])

    assert "gone.py" in found(settings, data, "never-started")[0].why


@pytest.mark.parametrize(
    ("program", "event", "said"),
    [
        ("python3", "PreToolUse", "every call that it is asked about is refused"),
        ("/usr/bin/env python3.11", "PreToolUse", "every call that it is asked about is refused"),
        ("python3", "UserPromptSubmit", "every prompt is refused"),
        ("python3", "SessionStart", "as if it had said yes"),
        ("node", "PreToolUse", "as if it had said yes"),
        ("bash", "PreToolUse", "as if it had said yes"),
        ("", "PreToolUse", "as if it had said yes"),
    ],
)
def test_what_follows_a_missing_script_hangs_on_what_was_to_run_it(settings, program, event, said):
    data = hooks(event, None, command=f"{program} /nowhere/gone.js".strip())

    assert said in found(settings, data, "never-started")[0].why


def test_a_hook_in_the_background_refuses_nothing(settings):
    data = hooks(command="python3 /nowhere/gone.py", **{"async": True})

    assert "as if it had said yes" in found(settings, data, "never-started")[0].why


@pytest.mark.parametrize(
    ("program", "script"), [("python3", "gone.py"), ("bash", "gone"), ("sh", "gone"), ("node", "gone.js")]
)
def test_the_exit_code_without_a_script_is_the_interpreters_own(program, script, tmp_path: Path):
    words = [program, str(tmp_path / script)]
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")

    assert code_without(words, words[1]) == subprocess.run(words, capture_output=True, check=False).returncode


def test_gemini_refuses_what_cannot_start(settings):
    data = {"hooks": {"BeforeTool": [{"hooks": [TRUE | {"command": "/nowhere/gone.sh"}]}]}}
    file = read_settings(settings(data, "home/.gemini/settings.json").path, client="gemini")
    why = next(one.why for one in apply(RULES, Context((file,))) if one.rule == "never-started")

    assert "ends with 127" in why and "is refused" in why


def test_a_script_without_its_exec_bit_never_starts(settings, tmp_path: Path):
    (tmp_path / "hook.sh").write_text("#!/bin/sh\n")

    assert "not executable" in found(settings, hooks(command=str(tmp_path / "hook.sh")), "not-executable")[0].why


def test_a_missing_script_of_the_project_never_starts(settings):
    data = hooks(command='"$CLAUDE_PROJECT_DIR"/.claude/hooks/gone.sh')

    assert found(settings, data, "never-started")


@pytest.mark.parametrize(
    "command",
    ["[ -x /nowhere/x ] && /nowhere/x", "$SOMEWHERE/x", "python3 -m /nowhere", "/nowhere/*", "cat <(/nowhere/x)"],
)
def test_a_command_whose_text_does_not_decide_is_not_judged(settings, command):
    assert not found(settings, hooks(command=command), "never-started")


def test_a_users_own_settings_belong_to_no_project(settings):
    file = settings(hooks(command='"$CLAUDE_PROJECT_DIR"/hook.sh'), "home/.claude/settings.json")
    context = Context((file,), user_dir=file.path.parent)

    assert not apply(RULES, context)


def test_a_copy_in_a_plugin_is_said_to_run_twice(settings):
    files = (settings(hooks()), settings(hooks(), "plug/hooks/hooks.json"))
    duplicate = next(finding for finding in apply(RULES, Context(files)) if finding.rule == "duplicate-handler")

    assert "twice" in duplicate.why


def test_a_dropped_file_says_how_many_handlers_go_with_it(settings):
    data = {**hooks(timeout="5"), "permissions": {"deny": ["Bash"]}}
    why = found(settings, data, "dropped-file")[0].why

    assert "1 handler and" in why and "permission rules" in why


def test_text_that_is_no_json_at_all_is_a_finding(settings):
    findings = apply(RULES, Context((settings("{nonsense"),)))

    assert [finding.rule for finding in findings] == ["dropped-file"]


def test_findings_hold_nothing_that_json_cannot_say(settings):
    assert json.dumps([vars(finding) | {"file": ""} for finding in apply(RULES, Context((settings("[]"),)))])


@pytest.mark.parametrize("matcher", ["Task", "MultiEdit", "mcp__files", "Bash|bash", "|", "*", "", "bash.*"])
def test_a_matcher_that_may_name_a_tool_is_not_judged(settings, matcher):
    assert not found(settings, hooks(matcher=matcher), "unknown-tool")


def test_a_matcher_of_another_kind_of_event_names_no_tool_and_is_not_judged(settings):
    assert not found(settings, hooks("SessionStart", "startup"), "unknown-tool")


def test_a_tool_in_the_wrong_case_is_given_its_name(settings):
    assert found(settings, hooks(matcher="bash"), "unknown-tool")[0].fix == "did you mean Bash?"


@pytest.mark.parametrize(
    "hook",
    [
        {"command": "sh -c 'echo hi'"},
        {"command": "sh -c 'no-such-program || true'"},
        {"command": "./no-such-program"},
        {"command": "no-such-program || true"},
        {"command": "$RUNNER hook.py"},
        {"command": "no-such-program", "shell": "powershell"},
        {"command": "[ -f x ]"},
    ],
    ids=lambda hook: hook["command"],
)
def test_a_program_that_may_be_found_is_not_judged(settings, hook):
    assert not found(settings, hooks(**hook), "not-on-path")


def test_a_settings_file_with_a_path_of_its_own_is_not_judged_by_ours(settings):
    data = {**hooks(command="no-such-program"), "env": {"PATH": "/opt/bin"}}

    assert not found(settings, data, "not-on-path")


def test_without_a_known_path_no_program_is_judged(settings):
    rules = [finding.rule for finding in apply(RULES, Context((settings(hooks(command="no-such-program")),)))]

    assert rules == []


def test_a_plugin_may_use_its_own_root(settings):
    file = settings(hooks(command="${CLAUDE_PLUGIN_ROOT}/hook.sh"), "plug/hooks/hooks.json")

    assert "plugin-root-outside" not in {finding.rule for finding in apply(RULES, Context((file,)))}


@pytest.mark.parametrize("command", ["${CLAUDE_PLUGIN_ROOT:-.}/hook.sh", "$CLAUDE_PLUGIN_ROOTS/hook.sh"])
def test_a_root_that_has_something_to_fall_back_to_is_not_judged(settings, command):
    assert not found(settings, hooks(command=command), "plugin-root-outside")


@pytest.mark.parametrize(
    "hook",
    [
        {"command": "exec no-such-program"},
        {"command": "sh -c 'no-such-program --x'"},
        {"command": "timeout 5 env A=1 no-such-program"},
        {"command": "/bin/sh", "args": ["-c", "no-such-program"]},
    ],
    ids=lambda hook: hook["command"],
)
def test_a_program_that_another_starts_is_judged_like_any(settings, hook):
    (finding,) = found(settings, hooks(**hook), "not-on-path")
    assert finding.why.startswith("no-such-program is not on PATH")


@pytest.mark.parametrize(
    "command",
    [
        "bash -c /no/such/guard",
        "env A=1 python3 /no/such/guard",
        "nice -n 5 /no/such/guard",
        "sh -ec '/no/such/guard -x'",
    ],
)
def test_a_path_that_is_not_there_is_seen_behind_what_starts_it(settings, command):
    (finding,) = found(settings, hooks(command=command), "never-started")
    assert finding.why.startswith("there is no /no/such/guard")


@pytest.mark.parametrize(
    ("event", "one", "other", "twice"),
    [
        ("Stop", "a", "b", True),
        ("PreToolUse", "Bash|Edit", "Bash", True),
        ("PreToolUse", "Bash", "Edit", False),
        ("SessionStart", "startup", "resume", False),
        ("SubagentStop", "planner", "reviewer", False),
        ("SubagentStop", "planner", "", True),
        ("SubagentStop", "planner", "plan.*", True),
        ("Notification", "idle_prompt", "permission_prompt", False),
    ],
)
def test_only_what_one_call_starts_twice_is_a_duplicate(settings, event, one, other, twice):
    data = hooks(event, one)
    data["hooks"][event] += hooks(event, other)["hooks"][event]

    assert bool(found(settings, data, "duplicate-handler")) is twice
