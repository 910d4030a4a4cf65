"""The one function that runs a program: what it passes on, and that nothing outlives its deadline."""

import os
import sys
import time
from pathlib import Path

import pytest
from waiting import ended, until

from overdeck.process import DOORS, Completed, NotCompleted, argv_of, run

PATH = {"PATH": os.defpath}


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_the_environment_is_the_given_one_and_no_more(tmp_path):
    ran = run(["env"], env={**PATH, "A": "b"}, cwd=tmp_path, deadline_s=10)

    assert isinstance(ran, Completed) and ran.code == 0
    assert {line.partition("=")[0] for line in ran.output.splitlines()} <= {"PATH", "A", "PWD"}


def test_stdin_folder_and_both_streams_are_passed_on(tmp_path):
    code = "import os, sys; print(sys.stdin.read(), os.getcwd()); sys.stderr.write('oh'); sys.exit(3)"
    ran = run(python(code), env={}, cwd=tmp_path, stdin=b"hi", deadline_s=10)

    assert ran[1:] == (3, f"hi {tmp_path}\n".encode(), b"oh")


def test_a_signal_is_a_negative_code(tmp_path):
    ran = run(python("import os; os.kill(os.getpid(), 9)"), env={}, cwd=tmp_path, deadline_s=10)

    assert isinstance(ran, Completed) and ran.code == -9


def test_a_program_that_closes_its_stdin_early_is_no_error(tmp_path):
    ran = run(["true"], env=PATH, cwd=tmp_path, stdin=b"x" * 1_000_000, deadline_s=10)

    assert isinstance(ran, Completed) and ran.code == 0


@pytest.mark.parametrize(("argv", "folder"), [(["no-such-program"], "."), (["true"], "gone")])
def test_what_cannot_start_is_said_in_words(tmp_path, argv, folder):
    ran = run(argv, env=PATH, cwd=tmp_path / folder, deadline_s=10)

    assert isinstance(ran, NotCompleted) and not ran.started and "does not start" in ran.why


def test_past_the_deadline_the_whole_group_is_killed(tmp_path):
    pid = tmp_path / "pid"
    ran = run(["sh", "-c", f"sleep 60 & echo $! > {pid}; wait"], env=PATH, cwd=tmp_path, deadline_s=0.5)

    assert ran == NotCompleted(True, "does not end within 0.5 s")
    until(lambda: ended(int(pid.read_text())))


def test_a_grandchild_that_left_the_group_cannot_hold_us(tmp_path):
    code = (
        "import os, time\nif os.fork() == 0:\n"
        f"  os.setsid()\n  open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n  time.sleep(30)"
    )
    started = time.monotonic()
    ran = run(python(code), env={}, cwd=tmp_path, deadline_s=0.5)
    took = time.monotonic() - started
    os.kill(int((tmp_path / "pid").read_text()), 9)

    assert isinstance(ran, NotCompleted) and took < 10


@pytest.mark.parametrize("command", DOORS)
def test_our_own_commands_start_installed_or_not(tmp_path, command):
    root = str(Path(__file__).resolve().parent.parent)
    ran = run([*argv_of(command), "--help"], env={"PYTHONPATH": root}, cwd=tmp_path, deadline_s=60)

    assert isinstance(ran, Completed) and ran.code == 0


def test_what_a_program_leaves_running_holds_its_output_no_longer_than_the_drain(tmp_path):
    pid = tmp_path / "pid"
    begun = time.monotonic()
    left = f"setsid sleep 60 & echo $! > {pid}; echo out; echo err >&2; exit 4"
    ran = run(["sh", "-c", left], env=PATH, cwd=tmp_path, deadline_s=30, drain_s=0.3)

    assert ran[1:] == (4, b"out\n", b"err\n")
    assert time.monotonic() - begun < 10
    os.kill(int(pid.read_text()), 9)


def test_a_drain_cuts_nothing_short_that_is_still_at_work(tmp_path):
    ran = run(["sh", "-c", "sleep 1; echo late"], env=PATH, cwd=tmp_path, deadline_s=30, drain_s=0.0)

    assert ran[1:] == (0, b"late\n", b"")
