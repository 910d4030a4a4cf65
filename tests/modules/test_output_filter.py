"""output-filter beside real shells: nothing of a command's behaviour changes but how much of its output is shown."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from fronts import Front, bash

CONFIG = """
[modules.output-filter]
modes = ["bypassPermissions"]
head_lines = 3
tail_lines = 4
max_bytes = 2000
[modules.output-filter.rules.mine]
pattern = "noisy|seq|sh|false|git"
"""
SHELLS = [shell for shell in ("bash", "dash", "zsh") if shutil.which(shell)]


@pytest.fixture
def filtered(configured: Front) -> Front:
    configured.config.write_text(CONFIG)
    configured.install()
    return configured


def rewritten(front: Front, command: str) -> str:
    answer = front.call(bash(command, permission_mode="bypassPermissions"))
    return str(answer.specific["updatedInput"]["command"]) if "updatedInput" in answer.specific else ""


def run(shell: str, command: str, tmp: Path) -> tuple[int, str]:
    done = subprocess.run(
        [shell, "-c", command],
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_all_of_a_long_output_is_in_a_file_and_what_is_left_out_is_announced(
    filtered: Front, tmp_path: Path, shell: str
) -> None:
    code, said = run(shell, rewritten(filtered, "seq 1 500"), tmp_path)
    lines = said.splitlines()
    file = Path(lines[0].removesuffix("]").rpartition(" ")[2])
    assert code == 0
    assert file.read_text().splitlines() == [str(n) for n in range(1, 501)]
    assert lines[1:4] == ["1", "2", "3"]
    assert lines[-4:] == ["497", "498", "499", "500"]
    announced = next(line for line in lines if "500 lines" in line)
    assert "the first 3 and the last 4" in announced
    assert str(file) in announced


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "line", ["sh -c 'exit 7'", "cd / && sh -c 'exit 7'", "set -e; sh -c 'exit 7'; echo not here"]
)
def test_the_exit_code_is_kept(filtered: Front, tmp_path: Path, shell: str, line: str) -> None:
    code, said = run(shell, rewritten(filtered, line), tmp_path)
    assert code == 7
    assert "not here" not in said


@pytest.mark.parametrize("shell", SHELLS)
def test_what_follows_sees_the_code_the_folder_and_the_variables(
    filtered: Front, tmp_path: Path, shell: str
) -> None:
    line = "cd /; X=5 sh -c 'exit 3' || echo failed with $?; seq 1 2; pwd"
    code, said = run(shell, rewritten(filtered, line), tmp_path)
    assert code == 0
    assert "failed with 3" in said
    assert said.splitlines()[-1] == "/"


def test_a_short_output_is_shown_whole_with_its_errors_in_order(filtered: Front, tmp_path: Path) -> None:
    _, said = run("bash", rewritten(filtered, "sh -c 'echo a; echo b >&2; echo c'"), tmp_path)
    assert said.splitlines()[1:] == ["a", "b", "c"]


def test_a_command_that_fails_without_a_word_is_not_taken_for_silence(filtered: Front, tmp_path: Path) -> None:
    """od-hooks: "never trust absent output as absence of events"."""
    code, said = run("bash", rewritten(filtered, "false"), tmp_path)
    assert code == 1
    assert "it printed nothing; exit code 1" in said


def test_more_of_the_tail_is_shown_where_it_failed(filtered: Front, tmp_path: Path) -> None:
    _, said = run("bash", rewritten(filtered, "sh -c 'seq 1 100; exit 2'"), tmp_path)
    assert said.splitlines()[-8:] == [str(n) for n in range(93, 101)]


def test_one_very_long_line_is_cut_and_announced(filtered: Front, tmp_path: Path) -> None:
    _, said = run("bash", rewritten(filtered, "sh -c 'head -c 100000 /dev/zero | tr \"\\\\0\" x'"), tmp_path)
    assert len(said) < 6000
    assert "at most 2000 bytes of each" in said


def test_where_no_file_can_be_made_the_command_runs_as_it_was(filtered: Front, tmp_path: Path) -> None:
    code, said = run("bash", rewritten(filtered, "sh -c 'echo a; exit 4'"), tmp_path / "missing")
    assert code == 4
    assert "a" in said.splitlines()


def test_stdin_still_reaches_the_command(filtered: Front, tmp_path: Path) -> None:
    line = rewritten(filtered, "sh -c 'read x; echo got $x'")
    done = subprocess.run(
        ["bash", "-c", line], input="word\n", env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "got word" in done.stdout


def test_files_of_earlier_days_go_and_others_stay(filtered: Front, tmp_path: Path) -> None:
    old, other = tmp_path / "overdeck-output.aaaaaa", tmp_path / "overdeck-notes"
    for file in (old, other):
        file.write_text("x")
        subprocess.run(["touch", "-d", "5 days ago", str(file)], check=True)
    run("bash", rewritten(filtered, "seq 1 2"), tmp_path)
    assert not old.exists()
    assert other.exists()


def test_the_gates_judge_the_rewritten_line(filtered: Front) -> None:
    reply = filtered.call(bash("seq 1 2; git push --force", permission_mode="bypassPermissions"))
    assert reply.decision == "ask"


def test_nothing_is_filtered_until_the_owner_says_so(guards: Front) -> None:
    """od-hooks: a filter that is always on can hide a mass deletion in `git status`."""
    for command in ("npm ci", "cargo build", "git status"):
        assert rewritten(guards, command) == ""
    assert "output-filter" not in json.dumps(guards.calls())


def test_two_lines_of_config_switch_it_on(configured: Front) -> None:
    configured.config.write_text("[modules.output-filter.rules.packages]\noff = false\n")
    configured.install()
    assert "show.sh" in rewritten(configured, "npm ci")
    assert rewritten(configured, "cargo build") == ""
