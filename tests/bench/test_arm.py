"""What an arm is made of: commands, and whole events of a settings file."""

import json
from pathlib import Path

import pytest

from overdeck.bench.arm import command_arm, event_arm, parse_arm, resolve
from overdeck.bench.blocks import run_once
from overdeck.errors import ExitCode, InvalidMeasurement, OverdeckError


def settings(tmp_path: Path, groups: list, event: str = "PreToolUse", **more: object) -> Path:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"hooks": {event: groups}, **more}))
    return file


def shell(command: str) -> dict:
    return {"type": "command", "command": command}


def test_a_command_is_split_like_a_shell_would_but_not_given_to_one():
    assert command_arm("A", "python3 'my hook.py' $HOME").commands == (("python3", "my hook.py", "$HOME"),)


@pytest.mark.parametrize("text", ["", "   ", "python3 'unclosed"])
def test_what_is_no_command_is_a_usage_error(text):
    with pytest.raises(OverdeckError) as error:
        command_arm("A", text)
    assert error.value.exit_code == ExitCode.USAGE


def test_an_event_starts_the_matching_handlers_once_each_as_the_client_would(tmp_path):
    file = settings(
        tmp_path,
        [
            {"matcher": "Bash|Edit", "hooks": [shell("one $X"), shell("two")]},
            {"matcher": "Write", "hooks": [shell("not this one")]},
            {"hooks": [shell("two"), {"type": "command", "command": "run", "args": ["${CLAUDE_PROJECT_DIR}/x"]}]},
        ],
    )
    assert event_arm("A", file, "PreToolUse", "Bash").commands == (
        ("/bin/sh", "-c", "one $X"),
        ("/bin/sh", "-c", "two"),
        ("run", f"{tmp_path}/x"),
    )


def test_the_project_folder_is_the_settings_folder_or_the_one_above_dot_claude(tmp_path):
    (tmp_path / ".claude").mkdir()
    file = settings(tmp_path / ".claude", [{"hooks": [shell('printf %s "$CLAUDE_PROJECT_DIR"; pwd')]}])
    arm = event_arm("A", file, "PreToolUse", "Bash")
    assert run_once(arm, payload=b"{}").stdout_head == f"{tmp_path}{tmp_path}\n"


def test_handlers_that_are_no_command_are_counted_not_run(tmp_path):
    file = settings(tmp_path, [{"hooks": [shell("true"), {"type": "http", "url": "http://127.0.0.1:9/"}]}])
    arm = event_arm("A", file, "PreToolUse", "Bash")
    assert (len(arm.commands), arm.skipped) == (1, 1)


@pytest.mark.parametrize(
    ("groups", "more", "why"),
    [
        ([], {}, "no command hook matches"),
        ([{"matcher": "Write", "hooks": [shell("true")]}], {}, "no command hook matches"),
        ([{"hooks": [shell("true")]}], {"disableAllHooks": True}, "no command hook matches"),
        ([{"hooks": [{**shell("true"), "timeout": "5"}]}], {}, "drops"),
    ],
)
def test_an_event_that_would_run_nothing_is_invalid_not_fast(tmp_path, groups, more, why):
    with pytest.raises(InvalidMeasurement, match=why):
        event_arm("A", settings(tmp_path, groups, **more), "PreToolUse", "Bash")


def test_a_missing_settings_file_is_not_found(tmp_path):
    with pytest.raises(OverdeckError) as error:
        event_arm("A", tmp_path / "none.json", "PreToolUse", "Bash")
    assert error.value.exit_code == ExitCode.NOT_FOUND


@pytest.mark.parametrize("text", ["{}", "settings:{}"])
def test_event_and_tool_come_from_the_payload_where_no_option_names_them(tmp_path, text):
    file = settings(tmp_path, [{"matcher": "Bash", "hooks": [shell("true")]}])
    payload = b'{"hook_event_name":"PreToolUse","tool_name":"Bash"}'
    arm = parse_arm("A", text.format(file), payload=payload, event=None, subject=None)
    assert arm.commands == (("/bin/sh", "-c", "true"),)


def test_an_option_beats_the_payload(tmp_path):
    file = settings(tmp_path, [{"matcher": "Write", "hooks": [shell("true")]}])
    payload = b'{"hook_event_name":"PostToolUse","tool_name":"Bash"}'
    assert parse_arm("A", str(file), payload=payload, event="PreToolUse", subject="Write").commands


def test_a_settings_arm_without_any_event_is_a_usage_error(tmp_path):
    with pytest.raises(OverdeckError, match="event") as error:
        parse_arm("A", str(settings(tmp_path, [])), payload=b"no JSON", event=None, subject=None)
    assert error.value.exit_code == ExitCode.USAGE


def test_a_command_that_mentions_a_json_file_is_still_a_command():
    assert parse_arm("A", "cat x.json", payload=b"", event=None, subject=None).commands == (("cat", "x.json"),)


def test_an_executable_is_found_on_the_arms_own_path_or_in_its_folder(tmp_path):
    (tmp_path / "hook").write_text("#!/bin/sh\n")
    (tmp_path / "hook").chmod(0o755)
    assert resolve(command_arm("A", "hook", cwd=Path("/")), str(tmp_path))[0][0] == str(tmp_path / "hook")
    assert resolve(command_arm("A", "./hook", cwd=tmp_path), "")[0][0] == str(tmp_path / "hook")
    with pytest.raises(InvalidMeasurement, match="nowhere"):
        resolve(command_arm("A", "nowhere", cwd=tmp_path), str(tmp_path))
