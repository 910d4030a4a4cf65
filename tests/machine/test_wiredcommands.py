"""Which hook a command line is of."""

import pytest

from overdeck.machine.processes import FRONT
from overdeck.machine.wiredcommands import called, wired_commands

WIRED = wired_commands(
    [
        ("python3 ~/.claude/hooks/guard.py --token abc", None),
        ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/style.sh', None),
        ("jq -r .tool_name | grep -q Bash", None),
        ("prettier --check", None),
        ("/opt/tools/notify", ("--to", "me")),
        ("node", ("/srv/hooks/log.mjs",)),
    ]
)


@pytest.mark.parametrize(
    ("words", "hook"),
    [
        (["sh", "-c", "python3 ~/.claude/hooks/guard.py --token abc"], "guard.py"),
        (["/bin/bash", "-lc", "jq -r .tool_name | grep -q Bash"], "jq"),
        (["python3", "/home/u/.claude/hooks/guard.py", "--token", "abc"], "guard.py"),
        (["/usr/bin/python3.12", "-I", "/home/u/.claude/hooks/guard.py"], "guard.py"),
        (["/bin/sh", "/project/.claude/hooks/style.sh"], "style.sh"),
        (["prettier", "--check"], "prettier"),
        (["/opt/tools/notify", "--to", "me"], "notify"),
        (["/opt/tools/notify", "--to", "you"], "notify"),
        (["node", "/srv/hooks/log.mjs"], "log.mjs"),
        (["/usr/local/bin/overdeck-hook", "PreToolUse", "--plan", "/p"], FRONT),
        (["python3", "-I", "-S", "/lib/overdeck/dispatch/entry.py", "/p", "a"], FRONT),
    ],
)
def test_a_command_line_of_a_hook_is_known(words: list[str], hook: str) -> None:
    assert WIRED.hook_of(words) == hook


@pytest.mark.parametrize(
    "words",
    [
        ["jq", "-r", ".x"],
        ["prettier", "--write"],
        ["node", "/srv/other/log.mjs"],
        ["python3", "/home/u/guard.py"],
        ["node"],
        ["python3", "-c", "print(1)"],
        ["vim", "/home/u/.claude/hooks/guard.py"],
        ["sh", "-c", "ls"],
        ["sleep", "5"],
    ],
)
def test_what_an_agent_runs_besides_is_no_hook(words: list[str]) -> None:
    assert WIRED.hook_of(words) == ""


def test_a_hook_is_called_by_its_script_and_never_by_its_arguments() -> None:
    assert called(["python3", "-u", "/x/y.py", "SECRET"]) == "y.py"
    assert called(["/x/tool", "SECRET"]) == "tool"
    assert called(["node", "-e", "SECRET"]) == "node"
    assert called([]) == ""


def test_a_line_that_no_shell_would_read_wires_itself_alone() -> None:
    assert wired_commands([("echo 'unclosed", None)]).hook_of(["sh", "-c", "echo 'unclosed"]) == "echo"
