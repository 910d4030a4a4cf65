"""One run: what it counts, what it waits for, and that it leaves nothing behind."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from waiting import until

from overdeck.spawn.launch import Command, Run, Spawner

Start = Callable[[], Spawner]

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")


@pytest.fixture
def payload(tmp_path: Path) -> Path:
    file = tmp_path / "payload"
    file.write_bytes(b'{"tool_name":"Bash"}')
    return file


def run(start: Start, payload: Path, *argvs: list[str], timeout_s: float = 30.0) -> Run:
    return run_commands(start, payload, *[Command(argv[0], argv) for argv in argvs], timeout_s=timeout_s)


def run_commands(start: Start, payload: Path, *commands: Command, timeout_s: float = 30.0) -> Run:
    with start() as running:
        return running.run(
            commands, environ={"PATH": "/usr/bin:/bin"}, cwd=payload.parent, payload=payload, timeout_s=timeout_s
        )


def limited(code: str, timeout_s: float) -> Command:
    return Command("/bin/sh", shell(code), timeout_s=timeout_s)


def background(code: str, timeout_s: float | None = None) -> Command:
    return Command("/bin/sh", shell(code), timeout_s=timeout_s, background=True)


def shell(code: str) -> list[str]:
    return ["/bin/sh", "-c", code]


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_the_payload_arrives_on_stdin_whole(start, payload):
    assert run(start, payload, shell("cat")).stdout_head == '{"tool_name":"Bash"}'


def test_a_payload_far_larger_than_a_pipe_arrives_whole(start, payload):
    payload.write_bytes(b"x" * 3_000_000)
    assert run(start, payload, shell("wc -c")).stdout_head.strip() == "3000000"


def test_a_hook_that_does_not_read_its_payload_is_no_error(start, payload):
    payload.write_bytes(b"x" * 3_000_000)
    seen = run(start, payload, shell("exit 3"))
    assert (seen.exits, seen.failed, seen.timed_out) == ((3,), "", False)


def test_cpu_time_of_children_that_were_waited_for_is_counted(start, payload):
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    child = (
        f"import os, sys; p = os.spawnv(os.P_NOWAIT, sys.executable, ['p', '-I', '-S', '-c', {burn!r}]); os.wait()"
    )
    seen = run(start, payload, python(child))
    assert 190_000 < seen.cpu_us < 500_000


@LINUX
def test_cpu_time_of_an_orphan_is_counted_and_the_orphan_is_named(start, payload):
    burn = "import time\nwhile time.process_time() < 0.02: pass"  # little: 250 ms of a busy machine must hold it
    seen = run(start, payload, shell(f"{sys.executable} -I -S -c '{burn}' >/dev/null 2>&1 & exit 0"))
    assert seen.cpu_us > 18_000
    assert (seen.orphans, seen.killed) == (1, 0)


@LINUX
def test_an_orphan_that_stays_is_killed_even_in_its_own_session(start, payload):
    seen = run(start, payload, shell("setsid sleep 300 >/dev/null 2>&1 & echo $!"))
    assert seen.killed == 1
    assert gone(int(seen.stdout_head))


def test_a_run_lasts_until_stdout_is_closed_not_only_until_exit(start, payload):
    seen = run(start, payload, shell("(sleep 0.4; echo late) & exit 0"))
    assert seen.wall_ns > 400_000_000
    assert seen.stdout_head == "late\n"


def test_a_run_lasts_until_exit_not_only_until_stdout_is_closed(start, payload):
    assert run(start, payload, shell("exec >&- 2>&-; sleep 0.4")).wall_ns > 400_000_000


def test_commands_of_one_run_start_together(start, payload):
    seen = run(start, payload, *[shell("sleep 0.5")] * 4)
    assert seen.exits == (0, 0, 0, 0)
    assert 500_000_000 < seen.wall_ns < 1_500_000_000


def test_output_larger_than_a_pipe_is_drained_and_hashed(start, payload):
    many = run(start, payload, shell("head -c 3000000 /dev/zero"))
    assert many.stdout_bytes == 3_000_000
    assert many.stdout_hash != run(start, payload, shell("head -c 2999999 /dev/zero")).stdout_hash


@LINUX
def test_a_timeout_kills_the_whole_tree(start, payload, tmp_path):
    pids = tmp_path / "pids"
    seen = run(
        start,
        payload,
        shell(f"echo $$ >>{pids}; (setsid sh -c 'echo $$ >>{pids}; sleep 300') & sleep 300"),
        timeout_s=0.7,
    )
    assert seen.timed_out
    started = [int(word) for word in pids.read_text().split()]
    assert len(started) == 2
    assert all(gone(pid) for pid in started)


def test_a_command_that_cannot_start_is_told_with_the_reason(start, payload):
    assert "No such file" in run(start, payload, ["/nonexistent/hook"]).failed


def test_a_death_by_signal_is_a_negative_exit_code(start, payload):
    assert run(start, payload, shell("kill -9 $$")).exits == (-9,)


@LINUX
def test_the_size_of_a_small_program_and_the_floor_under_it_are_small_whatever_the_parents_size(start, payload):
    ballast = bytearray(150_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    seen = run(start, payload, ["/bin/true"])
    assert seen.rss_kb < 40_000
    assert seen.floor_kb < 40_000


@LINUX
def test_what_runs_does_not_outlive_a_killed_parent(start, payload, tmp_path):
    pid_file = tmp_path / "pid"
    spawner = f"NativeSpawner({str(start.args[0])!r})" if isinstance(start, partial) else "Spawner()"
    root = Path(__file__).resolve().parent.parent.parent
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import pathlib, sys\n"
            "from overdeck.spawn.launch import Command, Spawner\n"
            "from overdeck.spawn.native import NativeSpawner\n"
            f"argv = ['/bin/sh', '-c', 'echo $$ >{pid_file}.new; mv {pid_file}.new {pid_file}; sleep 300']\n"
            f"file = pathlib.Path({str(payload)!r})\n"
            f"{spawner}.run([Command(argv[0], argv)], environ={{'PATH': '/usr/bin:/bin'}}, cwd=file.parent,"
            " payload=file, timeout_s=100)",
        ],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(root), "HOME": str(tmp_path)},
    )
    try:
        until(pid_file.exists, within_s=20)
    finally:
        parent.kill()
        parent.wait()
    hook = int(pid_file.read_text())
    until(lambda: gone(hook), within_s=20)
    assert gone(hook)


def test_a_command_past_its_own_timeout_gets_sigterm_and_the_run_goes_on(start, payload):
    seen = run_commands(start, payload, limited("exec sleep 300", 0.3), limited("sleep 0.6; echo done", 30))
    assert (seen.exits, seen.expired, seen.timed_out) == ((-15, 0), (0,), False)
    assert 600_000_000 < seen.wall_ns < 10_000_000_000


def test_what_a_command_printed_before_its_timeout_does_not_count(start, payload):
    seen = run_commands(start, payload, limited("echo deny; sleep 300", 0.3), limited("echo allow", 30))
    assert (seen.stdout_head, seen.stdout_bytes) == ("allow\n", 6)
    assert seen.stdout_hash == run(start, payload, shell("echo allow")).stdout_hash


def test_a_command_that_ignores_sigterm_is_killed_a_second_and_a_half_later(start, payload):
    seen = run_commands(start, payload, limited("trap '' TERM; while :; do sleep 0.05; done", 0.3))
    assert (seen.exits, seen.expired) == ((-9,), (0,))
    assert 1_800_000_000 < seen.wall_ns < 10_000_000_000


@LINUX
def test_a_timeout_reaches_a_child_in_its_own_session_that_still_has_its_parent(start, payload, tmp_path):
    pids = tmp_path / "pids"
    seen = run_commands(start, payload, limited(f"setsid sh -c 'echo $$ >{pids}; exec sleep 300' & wait", 0.5))
    assert seen.expired == (0,)
    assert (seen.orphans, seen.killed) == (1, 0), "it was dead already when it became an orphan"
    assert gone(int(pids.read_text()))


def test_a_timeout_guards_the_command_itself_not_a_child_that_holds_stdout(start, payload):
    seen = run_commands(start, payload, limited("(sleep 1; echo late) & exit 0", 0.3))
    assert (seen.exits, seen.expired) == ((0,), ())
    assert seen.wall_ns > 1_000_000_000
    assert seen.stdout_head == "late\n"


def test_a_timeout_of_nothing_ends_the_command_at_once(start, payload):
    seen = run_commands(start, payload, limited("sleep 300", 0.0))
    assert seen.expired == (0,)
    assert seen.wall_ns < 10_000_000_000


def test_a_background_command_is_started_but_not_waited_for(start, payload, tmp_path):
    seen = run_commands(
        start, payload, background(f"sleep 1.5; echo late; touch {tmp_path}/ran"), limited("echo now", 30)
    )
    assert seen.wall_ns < 1_400_000_000
    assert (seen.exits, seen.stdout_head, seen.cut) == ((0, 0), "now\n", ())
    assert (tmp_path / "ran").exists(), "it was left to run on, off the clock"


def test_cpu_time_of_a_background_command_is_counted(start, payload):
    burn = python("import time\nwhile time.process_time() < 0.5: pass")
    seen = run_commands(start, payload, Command(burn[0], burn, background=True), limited("true", 30))
    assert seen.cpu_us > 490_000
    assert seen.wall_ns < 450_000_000


@pytest.mark.slow
def test_a_background_command_that_never_ends_is_cut_off(start, payload, tmp_path):
    seen = run_commands(
        start, payload, background("echo $$ >pid; exec sleep 300"), limited("until [ -s pid ]; do :; done", 30)
    )
    assert (seen.cut, seen.exits, seen.killed) == ((0,), (None, 0), 0)
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_background_command_is_held_to_its_own_timeout(start, payload):
    seen = run_commands(start, payload, background("sleep 300", 0.4), limited("true", 30))
    assert (seen.expired, seen.exits[1], seen.cut) == ((0,), 0, ())
    assert seen.exits[0] in (-15, 128 + 15), "the shell ends by the signal, or says that its command did"


@pytest.mark.parametrize("said", ['{"async":true}', '{"async": true, "asyncTimeout": 60}'])
def test_a_command_that_says_async_on_its_first_line_is_not_waited_for_any_longer(start, payload, said):
    seen = run(start, payload, shell("echo now"), shell(f"echo '{said}'; sleep 1.5; echo more"))
    assert seen.wall_ns < 1_400_000_000
    assert (seen.exits, seen.stdout_head) == ((0, 0), "now\n")
    assert seen.asked == (1,)


def test_what_the_file_puts_in_the_background_has_not_asked_for_it(start, payload):
    """Nor has a command that is waited for in vain: only those whose word changed something are told of."""
    seen = run_commands(
        start, payload, background("""echo '{"async":true}'; sleep 0.2"""), limited("sleep 0.1", 30)
    )
    assert seen.asked == ()


def test_a_command_that_only_mentions_async_is_waited_for(start, payload):
    assert run(start, payload, shell("""echo '{"async":false}'; sleep 0.4""")).wall_ns > 400_000_000
    assert run(start, payload, shell("""echo '{"async":true}' >&2; sleep 0.4""")).wall_ns > 400_000_000


def test_a_run_past_its_own_limit_is_over_whatever_the_commands_timeouts(start, payload):
    seen = run_commands(start, payload, limited("sleep 300", 100), background("sleep 300", 200), timeout_s=0.4)
    assert (seen.timed_out, seen.expired) == (True, ())
