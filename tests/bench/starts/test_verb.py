"""``hookbench starts`` as a user meets it."""

import json
import subprocess
import sys

import pytest
from waiting import ended, until

from overdeck.bench.report import starts_cell
from overdeck.bench.starts.counter import Count, Starts
from overdeck.bench.starts.report import as_data, rows, sentence
from overdeck.process import argv_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has ptrace events")


def test_people_get_one_sentence_the_tree_and_the_counts(hookbench, payload):
    said = hookbench("starts", "--payload", payload, "--", "sh", "-c", "/bin/true; /bin/true; cat >&2; :")
    assert said.code == 0
    assert said.out.splitlines() == [
        "one call starts 4 processes and 4 programs (exact; the same in 5 runs)",
        "",
        "sh -c '/bin/true; /bin/true; cat >&2; :'",
        "└─ sh",
        "   ├─ true  x2",
        "   └─ cat",
        "",
        "a call          starts",
        "process starts       4",
        "program starts       4",
        "threads              0",
    ]


def test_json_is_the_envelope_alone_on_stdout(hookbench, payload):
    said = hookbench("starts", "--payload", payload, "--runs", 2, "--json", "--", "sh", "-c", "/bin/true; :")
    document = json.loads(said.out)
    assert document["schema"] == "overdeck.starts/1"
    data = document["data"]
    assert data["process_starts"] == data["program_starts"] == {"low": 2, "high": 2}
    assert data["threads"] == {"low": 0, "high": 0}
    assert (data["backend"], data["exact"], data["runs"]) == ("ptrace", True, 2)
    shell = data["tree"]["children"][0]
    assert shell["programs"] == ["sh"] and shell["children"][0]["programs"] == ["true"]


def test_a_settings_event_is_counted_whole(hookbench, tmp_path):
    hooks = [{"type": "command", "command": f"true # {number}"} for number in range(3)]
    file = tmp_path / "some settings.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}))
    said = hookbench(
        "starts", "--settings", file, "--event", "PreToolUse", "--tool", "Bash", "--runs", 1, "--json"
    )
    assert said.data["process_starts"] == {"low": 3, "high": 3}
    assert len(said.data["tree"]["children"]) == 3
    # The recorded payload says event and tool as well.
    assert hookbench("starts", "--settings", file, "--runs", 1, "--json").data["process_starts"]["low"] == 3
    said = hookbench("starts", "--settings", file, "--event", "Stop", "--json")
    said.check_refused(4, "empty-arm", "would run nothing")


def test_a_single_quoted_command_is_split_like_an_arm_of_ab(hookbench, payload):
    said = hookbench("starts", "--payload", payload, "--runs", 1, "--json", "env true")
    assert said.data["tree"]["children"][0]["programs"] == ["env", "true"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "either a command or a settings file"),
        (("--settings", "x.json", "--", "true"), "either a command or a settings file"),
        (("--runs", "0", "--", "true"), "0 runs: one needs 1 to 100"),
    ],
)
def test_what_cannot_be_counted_is_a_usage_error(hookbench, words, why):
    hookbench("starts", "--json", *words).check_refused(2, "usage", why)


def test_a_shell_around_one_program_is_pointed_out(hookbench, payload):
    said = hookbench("starts", "--payload", payload, "--runs", 1, "--", "sh", "-c", "/bin/true; exit 0")
    assert "hint: 1 of 2 starts is a shell around a single program" in said.out


def test_subshells_are_pointed_out(hookbench, payload):
    said = hookbench(
        "starts", "--payload", payload, "--runs", 1, "--", "sh", "-c", ": $(:) $(:); cat /dev/null; :"
    )
    assert "hint: 2 of 4 starts are subshells that ran no program" in said.out


def test_on_a_terminal_the_runs_are_followed_and_gone_before_the_outcome(home):
    shown = home.on_a_terminal("hookbench", "starts", "--runs", "2", "--", "true")
    assert "2/2 runs counted" in shown
    assert shown.rpartition("\x1b[2K")[2].startswith("one call starts 1 process and 1 program")


def test_a_name_from_the_tree_cannot_write_to_the_terminal(hookbench, payload, tmp_path):
    odd = tmp_path / "od\x1b[31md\n\udcff"
    odd.write_text("#!/bin/sh\n:\n")
    odd.chmod(0o755)
    words = ("starts", "--payload", payload, "--runs", 1, "--", "sh", "-c", f"cd {tmp_path}; ./od*; :")
    assert "└─ od?[31md?" in hookbench(*words).out
    assert hookbench(*words[:3], "--json", *words[3:]).code == 0


def test_a_call_that_hangs_is_invalid_and_its_whole_tree_is_gone(hookbench, payload, tmp_path):
    pids = tmp_path / "pids"
    code = f"echo $$ >>{pids}; setsid sh -c 'echo $$ >>{pids}; exec sleep 300' & sleep 300"
    said = hookbench("starts", "--payload", payload, "--timeout", 0.7, "--json", "--", "sh", "-c", code)
    said.check_refused(4, "timeout", "not over after 0.7 s")
    started = [int(word) for word in pids.read_text().split()]
    assert len(started) == 2
    assert all(ended(pid) for pid in started)


@pytest.mark.parametrize("number", ["KILL", "TERM", "INT"])
def test_nothing_that_is_counted_outlives_hookbench(payload, tmp_path, environ, number):
    first, pids = tmp_path / "first", tmp_path / "pids"
    # The uncounted run ends at once; the first counted one stays.
    code = f"test -e {first} || {{ >{first}; exit; }}; (setsid sleep 300 & echo $! >>{pids}); sleep 300"
    heard = ["env", "--default-signal=INT"]  # where the tests were started by a shell's `&`, it is ignored
    running = subprocess.Popen(
        [*heard, *argv_of("hookbench"), "starts", "--payload", str(payload), "--", "sh", "-c", code],
        env=environ,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        until(lambda: pids.exists() and pids.read_text().endswith("\n"), within_s=30)
        subprocess.run(["kill", f"-{number}", str(running.pid)], check=True)
        running.communicate(timeout=20)
    finally:
        running.kill()
    assert running.returncode == {"KILL": -9}.get(number, 130)
    until(lambda: ended(int(pids.read_text())), within_s=20)


def test_a_count_of_a_call_that_ends_otherwise_when_watched_is_not_called_exact():
    """A program that traces others is one."""
    starts = Starts("ptrace", True, Count(2, 2), Count(2, 2), Count(0, 0), None, 5, undisturbed=False)
    said = "of a call that ends otherwise when watched"
    assert sentence(starts) == f"one call starts 2 processes and 2 programs ({said}; the same in 5 runs)"
    assert starts_cell(starts) == f"2 {said}"
    assert [row[0] for row in rows(starts)] == [
        f"{what} {said}" for what in ("process starts", "program starts", "threads")
    ]
    assert as_data(starts)["undisturbed"] is False
