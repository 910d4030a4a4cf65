"""What an arm is made of: commands, and whole events of a settings file."""

import json
from pathlib import Path

import pytest

from overdeck.bench.arm import Arm, Wait, command_arm, event_arm, parse_arm, resolve
from overdeck.bench.blocks import run_once
from overdeck.bench.comparable import exit_codes
from overdeck.bench.endings import hand_of_the_client, hand_of_the_hook
from overdeck.errors import ExitCode, InvalidMeasurement, OverdeckError


def settings(tmp_path: Path, groups: list, event: str = "PreToolUse", **more: object) -> Path:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"hooks": {event: groups}, **more}))
    return file


def shell(command: str, **more: object) -> dict:
    return {"type": "command", "command": command, **more}


def bash_event(tmp_path: Path, *hooks: dict) -> Arm:
    return event_arm("A", settings(tmp_path, [{"matcher": "Bash", "hooks": list(hooks)}]), "PreToolUse", "Bash")


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


def test_a_handler_past_its_own_timeout_is_killed_as_the_client_kills_it_and_told(tmp_path):
    arm = bash_event(tmp_path, shell("echo deny; exec sleep 300", timeout=0.3), shell("echo ok"))
    run = run_once(arm, payload=b"{}")
    assert (run.exits, run.expired, run.stdout_head) == ((-15, 0), (0,), "ok\n")
    assert hand_of_the_client(arm, [run, run]) == [
        "arm A: 'echo deny; exec sleep 300' was killed at its own timeout of 0.3 s in 2 of 2 runs, as the client "
        "would, which throws its answer away"
    ]


def test_a_timeout_beyond_the_clients_timer_ends_the_handler_at_once(tmp_path):
    run = run_once(bash_event(tmp_path, shell("sleep 300", timeout=2147484)), payload=b"{}")
    assert run.expired == (0,)


def test_a_handler_without_a_timeout_has_the_clients_own(tmp_path):
    assert bash_event(tmp_path, shell("true")).waits == (Wait(600.0, False),)
    file = settings(tmp_path, [{"hooks": [shell("true")]}], "UserPromptSubmit")
    assert event_arm("A", file, "UserPromptSubmit").waits == (Wait(30.0, False),)


def test_an_async_handler_is_started_but_not_waited_for(tmp_path):
    arm = bash_event(tmp_path, {**shell(f"sleep 1.5; touch {tmp_path}/ran"), "async": True}, shell("echo ok"))
    run = run_once(arm, payload=b"{}")
    assert run.wall_ns < 1_400_000_000
    assert (tmp_path / "ran").exists()
    assert run.stdout_head == "ok\n"


def test_a_handler_that_holds_stdout_open_after_its_exit_is_waited_for_past_its_timeout(tmp_path):
    run = run_once(bash_event(tmp_path, shell("(sleep 0.8) & exit 0", timeout=0.2)), payload=b"{}")
    assert (run.exits, run.expired) == ((0,), ())
    assert run.wall_ns > 800_000_000


def test_identical_handlers_of_several_groups_run_once(tmp_path):
    hook = shell(f"echo x >>{tmp_path}/ran")
    file = settings(tmp_path, [{"matcher": "Bash", "hooks": [hook, hook]}, {"hooks": [hook]}])
    run_once(event_arm("A", file, "PreToolUse", "Bash"), payload=b"{}")
    assert (tmp_path / "ran").read_text() == "x\n"


def test_a_cut_off_background_handler_does_not_make_the_exit_codes_differ(tmp_path):
    run = run_once(bash_event(tmp_path, shell("true")), payload=b"{}")
    assert exit_codes(run._replace(exits=(None, 0), cut=(0,))) == (0,)
    arm = bash_event(tmp_path, {**shell("slow"), "async": True})
    assert "'slow', which the client does not wait for" in hand_of_the_client(arm, [run._replace(cut=(0,))])[0]


def test_a_handler_that_puts_itself_in_the_background_is_told(tmp_path):
    arm = bash_event(tmp_path, shell("""echo '{"async":true}'; sleep 0.1"""), shell("true"))
    runs = [run_once(arm, payload=b"{}"), run_once(bash_event(tmp_path, shell("true")), payload=b"{}")]
    (said,) = hand_of_the_hook(arm, runs)
    assert 'printed {"async":true} in 1 of 2 runs' in said and "sleep 0.1" in said


def test_a_handler_with_a_condition_is_told(tmp_path):
    arm = bash_event(tmp_path, shell("true", **{"if": "Bash(git *)"}))
    assert 'have an "if"' in hand_of_the_client(arm, [])[0]


def test_hooks_see_the_files_env_without_secrets_and_that_a_client_runs_them(tmp_path):
    env = {"MODE": "strict", "API_TOKEN": "s3cret", "HOME": "/elsewhere"}
    file = settings(tmp_path, [{"hooks": [shell("echo $MODE:$API_TOKEN:$CLAUDECODE:$HOME")]}], env=env)
    said = run_once(event_arm("A", file, "PreToolUse", "Bash"), payload=b"{}").stdout_head
    assert said.startswith("strict::1:") and "/elsewhere" not in said


def test_a_users_own_hooks_are_found_below_the_throwaway_home(tmp_path):
    (tmp_path / ".claude" / "hooks").mkdir(parents=True)
    (tmp_path / ".claude" / "hooks" / "guard.sh").write_text("echo guarded\n")
    file = settings(tmp_path / ".claude", [{"hooks": [shell("sh ~/.claude/hooks/guard.sh")]}])
    payload = b'{"hook_event_name":"PreToolUse","tool_name":"Bash"}'
    arm = parse_arm("A", str(file), payload=payload, event=None, subject=None, room=tmp_path / "room")
    assert arm.home == tmp_path / "room" / "A" / "home"
    assert run_once(arm, payload=payload).stdout_head == "guarded\n"


THREE = (shell("python3 guard.py"), shell("python3 style.py"), shell("sh note.sh"))


@pytest.mark.parametrize("which", ["2", "style", "/hooks/PreToolUse/0/hooks/1", "python3 style.py"])
@pytest.mark.parametrize("prefix", ["", "settings:"])
def test_one_handler_is_named_by_number_pointer_or_a_piece_of_its_command_line(tmp_path, which, prefix):
    file = settings(tmp_path, [{"matcher": "Bash", "hooks": list(THREE)}])
    arm = parse_arm("A", f"{prefix}{file}#{which}", payload=b"{}", event="PreToolUse", subject="Bash")
    assert arm.commands == (("/bin/sh", "-c", "python3 style.py"),)
    assert len(arm.waits) == 1


@pytest.mark.parametrize(
    ("which", "code", "numbers"),
    [
        ("python3", "ambiguous-handler", [1, 2]),
        ("", "ambiguous-handler", [1, 2, 3]),
        ("nothing", "no-such-handler", [1, 2, 3]),
        ("4", "no-such-handler", [1, 2, 3]),
        ("0", "no-such-handler", [1, 2, 3]),
        ("9" * 5000, "no-such-handler", [1, 2, 3]),
    ],
)
def test_a_handler_that_is_not_one_is_not_found_and_the_candidates_are_listed(tmp_path, which, code, numbers):
    file = settings(tmp_path, [{"matcher": "Bash", "hooks": list(THREE)}])
    with pytest.raises(OverdeckError) as error:
        parse_arm("A", f"{file}#{which}", payload=b"{}", event="PreToolUse", subject="Bash")
    assert (error.value.exit_code, error.value.code) == (ExitCode.NOT_FOUND, code)
    assert [one["number"] for one in error.value.data["candidates"]] == numbers
    assert "\n  1  python3 guard.py" in error.value.message


def test_a_handler_that_the_call_does_not_start_is_no_candidate(tmp_path):
    file = settings(tmp_path, [{"matcher": "Write", "hooks": [shell("one")]}, {"hooks": [shell("two")]}])
    arm = parse_arm("A", f"{file}#1", payload=b"{}", event="PreToolUse", subject="Bash")
    assert arm.commands == (("/bin/sh", "-c", "two"),)


def test_a_file_whose_name_holds_a_hash_is_a_file(tmp_path):
    file = settings(tmp_path, [{"hooks": [shell("true")]}]).rename(tmp_path / "a#1.json")
    arm = parse_arm("A", str(file), payload=b"{}", event="PreToolUse", subject="Bash")
    assert arm.commands == (("/bin/sh", "-c", "true"),)


def test_a_session_start_has_a_file_for_what_it_exports(tmp_path):
    file = settings(tmp_path, [{"hooks": [shell('echo export A=b >>"$CLAUDE_ENV_FILE"')]}], "SessionStart")
    arm = parse_arm("A", str(file), payload=b"{}", event="SessionStart", subject="startup", room=tmp_path / "room")
    assert run_once(arm, payload=b"{}").exits == (0,)
    assert (tmp_path / "room" / "A" / "home" / "session.env").read_text() == "export A=b\n"
