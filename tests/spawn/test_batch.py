"""Batches: runs of several tasks from either spawner; and what only the native one can get wrong."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from overdeck.errors import InvalidMeasurement
from overdeck.spawn.launch import Command, Drawn, Made, Spawner, Task
from overdeck.spawn.native import NativeSpawner, NotOurs

Start = Callable[[], Spawner]


def task(
    folder: Path, code: str, *, payload: bytes = b"", timeout_s: float = 30.0, cwd: Path | None = None
) -> Task:
    file = folder / f"payload-{len(payload)}"
    file.write_bytes(payload)
    argv = ["/bin/sh", "-c", code]
    return Task([Command(argv[0], argv)], {"PATH": "/usr/bin:/bin"}, cwd or folder, file, timeout_s)


def made(start: Start, tasks: list[Task], runs: list[Drawn], *, machine: bool = False) -> list[Made]:
    with start() as spawner:
        return list(spawner.batch(tasks, runs, machine=machine))


def printed(start: Start, tasks: list[Task], runs: list[Drawn]) -> list[str]:
    return [one.run.stdout_head for one in made(start, tasks, runs)]


def test_runs_are_made_in_their_order_each_of_its_task_with_what_is_drawn_for_it(start, tmp_path):
    tasks = [task(tmp_path, "echo a $N"), task(tmp_path, "echo b $N; cat", payload=b"!")]
    runs = [Drawn(1, {"N": "1"}), Drawn(0, {"N": "2"}), Drawn(0, {"N": "3"}), Drawn(1, {"N": "4"})]
    assert printed(start, tasks, runs) == ["b 1\n!", "a 2\n", "a 3\n", "b 4\n!"]


def test_nothing_is_made_after_a_run_that_did_not_start(start, tmp_path):
    gone = Task([Command("/nonexistent/hook", ["hook"])], {}, tmp_path, tmp_path / "payload-0", 30)
    seen = made(start, [task(tmp_path, "echo ran"), gone], [Drawn(0, {}), Drawn(1, {}), Drawn(0, {})])
    assert [one.run.failed for one in seen] == ["", "/nonexistent/hook: No such file or directory"]


def test_nothing_is_made_after_a_run_that_was_not_over_in_time(start, tmp_path):
    seen = made(start, [task(tmp_path, "sleep 300", timeout_s=0.2)], [Drawn(0, {})] * 3)
    assert [one.run.timed_out for one in seen] == [True]


@pytest.mark.parametrize("what", ["cwd", "payload"])
def test_a_cwd_or_a_payload_that_is_gone_is_a_run_that_did_not_start(start, tmp_path, what):
    present = task(tmp_path, "echo ran")
    seen = made(start, [present._replace(**{what: tmp_path / "gone"}), present], [Drawn(0, {}), Drawn(1, {})])
    assert [one.run.failed for one in seen] == [f"{tmp_path / 'gone'}: No such file or directory"]


def test_a_batch_larger_than_any_buffer_is_made_whole(start, tmp_path):
    """In the one direction by what is drawn, in the other by what is printed."""
    runs = [Drawn(0, {"N": str(number), "PADDING": "x" * 30_000}) for number in range(30)]
    heads = printed(start, [task(tmp_path, "echo $N; printf %0600d 7; printf %0600d 7 >&2")], runs)
    assert [head.split("\n")[0] for head in heads] == [str(number) for number in range(30)]
    assert {len(head) for head in heads} == {400}


def test_names_words_and_outputs_of_any_bytes_are_no_trouble(start, tmp_path):
    folder = tmp_path / 'a b\udcff\n"\\'
    folder.mkdir()
    seen = made(start, [task(folder, "printf '%s' \"$N\" 'ä\"\\'; pwd >&2")], [Drawn(0, {"N": "\udcfe\n"})])
    assert seen[0].run.stdout_head == '\ufffd\nä"\\'
    assert seen[0].run.exits == (0,)


def test_the_machine_is_looked_at_around_each_run_where_that_is_asked_for(start, tmp_path):
    seen = made(start, [task(tmp_path, "sleep 0.2")], [Drawn(0, {})] * 2, machine=True)
    times = [at for one in seen for at in (one.before.at_ns, one.after.at_ns)]
    assert times == sorted(times) and times[0] > 0
    assert times[1] - times[0] > 200_000_000
    if sys.platform == "linux":
        assert all(one.after.stat.startswith("cpu ") for one in seen)
        assert all(float(one.after.loadavg.split()[0]) >= 0 for one in seen)


def test_a_run_says_how_long_it_took_and_not_how_long_the_batch_did(start, tmp_path):
    begin = time.monotonic_ns()
    walls = [one.run.wall_ns for one in made(start, [task(tmp_path, "sleep 0.1")], [Drawn(0, {})] * 5)]
    assert all(wall > 100_000_000 for wall in walls)
    assert sum(walls) < time.monotonic_ns() - begin


@pytest.mark.parametrize("length", [0, 1, 127, 128, 129, 255, 256, 257, 70_000])
def test_both_say_the_same_of_one_output(native, tmp_path, length):
    text = task(tmp_path, "cat", payload=bytes(number * 7 % 251 for number in range(length)))
    ours, twin = (made(start, [text], [Drawn(0, {})])[0].run for start in (lambda: NativeSpawner(native), Spawner))
    assert (ours.stdout_hash, ours.stdout_bytes, ours.stdout_head) == (
        twin.stdout_hash,
        twin.stdout_bytes,
        twin.stdout_head,
    )


def test_runs_that_take_longer_than_a_batch_may_are_all_made(native, tmp_path):
    seen = made(lambda: NativeSpawner(native), [task(tmp_path, "sleep 0.4")], [Drawn(0, {})] * 5)
    assert len(seen) == 5


def test_the_next_pause_is_never_far_so_that_progress_can_be_shown(native, tmp_path):
    with NativeSpawner(native) as spawner:
        runs = spawner.batch([task(tmp_path, "sleep 0.4; echo >>ran")], [Drawn(0, {})] * 100)
        next(runs)
        assert len((tmp_path / "ran").read_text()) < 10


def test_a_spawner_of_another_source_is_not_used(tmp_path):
    stale = tmp_path / "stale"
    stale.write_text("#!/bin/sh\necho '\"0123456789abcdef\"'\n")
    stale.chmod(0o755)
    with pytest.raises(NotOurs, match="another source"):
        NativeSpawner(stale)


@pytest.mark.parametrize("content", [None, "no program", "#!/bin/sh\nexit 1\n"])
def test_what_is_no_spawner_is_not_used(tmp_path, content):
    program = tmp_path / "program"
    if content is not None:
        program.write_text(content)
        program.chmod(0o755)
    with pytest.raises(NotOurs):
        NativeSpawner(program)


def test_a_request_that_makes_no_sense_ends_the_spawner_and_is_told(native, tmp_path):
    with NativeSpawner(native) as spawner, pytest.raises(InvalidMeasurement, match="stopped answering"):
        list(spawner.batch([task(tmp_path, "true")], [Drawn(7, {})]))


def test_a_spawner_without_stderr_still_gives_commands_three_streams(native, tmp_path):
    """A pipe that became descriptor 2 of the spawner would be lost in the command's dup2."""
    code = (
        "import json, sys\nfrom pathlib import Path\n"
        "from overdeck.spawn.launch import Command, Drawn, Task\nfrom overdeck.spawn.native import NativeSpawner\n"
        f"argv = ['/bin/sh', '-c', 'echo out; echo err >&2']\nfolder = Path({str(tmp_path)!r})\n"
        "(folder / 'payload').write_bytes(b'')\n"
        f"with NativeSpawner(Path({str(native)!r})) as spawner:\n"
        "    task = Task([Command(argv[0], argv)], {}, folder, folder / 'payload', 30)\n"
        "    (made,) = spawner.batch([task], [Drawn(0, {})])\n"
        "print(json.dumps([made.run.stdout_head, made.run.stderr_head]))\n"
    )
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", code],
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert json.loads(done.stdout) == ["out\n", "err\n"]


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit")
def test_a_spawner_that_may_open_no_more_says_so_and_does_the_next_run(native, tmp_path):
    many = task(tmp_path, "echo ran")
    many = many._replace(commands=list(many.commands) * 30)
    with NativeSpawner(native) as spawner:
        resource.prlimit(spawner.pid, resource.RLIMIT_NOFILE, (40, 40))
        assert next(spawner.batch([many], [Drawn(0, {})])).run.failed == "a pipe: Too many open files"
        assert next(spawner.batch([task(tmp_path, "echo ran")], [Drawn(0, {})])).run.stdout_head == "ran\n"
