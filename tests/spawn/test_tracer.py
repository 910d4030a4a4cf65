"""A traced run ends, is killed and is cleaned up after as any other, whoever of the three processes dies."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import ended, until

from overdeck.spawn.launch import Command, Run
from overdeck.spawn.tracer import Trace, Tracer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has ptrace events")
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def payload(tmp_path: Path) -> Path:
    file = tmp_path / "payload"
    file.write_bytes(b'{"tool_name":"Bash"}')
    return file


def traced(payload: Path, *argvs: list[str], timeout_s: float = 30.0) -> tuple[Run, Trace]:
    with Tracer() as tracer:
        run = tracer.run(
            [Command(argv[0], argv) for argv in argvs],
            environ={"PATH": "/usr/bin:/bin"},
            cwd=payload.parent,
            payload=payload,
            timeout_s=timeout_s,
        )
        return run, tracer.trace


def shell(code: str) -> list[str]:
    return ["/bin/sh", "-c", code]


def staying(pids: Path, last: str) -> list[str]:
    """A tree of four that stays, one of them in a session of its own, which does ``last`` at its end."""
    return shell(f"echo $$ >>{pids}; setsid sh -c 'echo $$ >>{pids}; {last}' & (exec sleep 300) & sleep 300")


def written(pids: Path) -> list[int]:
    return [int(word) for word in pids.read_text().split()] if pids.exists() else []


def test_exit_codes_output_and_payload_are_those_of_an_untraced_run(payload):
    run, trace = traced(payload, shell("cat; exit 3"), shell("kill -TERM $$"))
    assert run.exits == (3, -signal.SIGTERM)
    assert run.stdout_head == '{"tool_name":"Bash"}'
    assert [process.parent for process in trace.processes] == [None, None, 0]


def test_a_command_that_cannot_start_is_told_with_the_reason(payload):
    assert "No such file" in traced(payload, ["/nonexistent/hook"])[0].failed
    assert "Permission denied" in traced(payload, [str(payload)])[0].failed


def test_a_stopped_command_stays_stopped_until_it_is_continued(payload, tmp_path):
    stopping = tmp_path / "stopping"
    # A signal on its way is a stop too, a short one: only one that is seen again and again is ours.
    watch = "read -r _ _ state _ </proc/$$/stat; case $state in [Tt]) n=$((n + 1)) ;; *) n=0 ;; esac"
    seen = f"until [ -e {stopping} ]; do :; done; n=0; while [ $n -lt 100 ]; do {watch}; done"
    run, trace = traced(
        payload, shell(f"({seen}; echo continued; kill -CONT $$) & >{stopping}; kill -STOP $$; echo runs; exit 7")
    )
    assert (run.exits, run.stdout_head) == ((7,), "continued\nruns\n")
    assert len(trace.processes) == 2


def test_a_timeout_kills_the_whole_tree_stopped_processes_too(payload, tmp_path):
    pids = tmp_path / "pids"
    run, trace = traced(payload, staying(pids, "kill -STOP $$"), timeout_s=1)
    assert run.timed_out
    assert len(written(pids)) == 2 and len(trace.processes) == 4
    assert all(ended(pid) for pid in written(pids))


@pytest.fixture
def measuring(payload, tmp_path):
    """A process in the middle of a traced run, the pids of that run, and the tracer's pid."""
    pids = tmp_path / "pids"
    argv = staying(pids, "exec sleep 300")
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import pathlib\n"
            "from overdeck.spawn.launch import Command\n"
            "from overdeck.spawn.tracer import Tracer\n"
            f"file = pathlib.Path({str(payload)!r})\n"
            "tracer = Tracer()\n"
            f"pathlib.Path({str(tmp_path)!r}, 'tracer').write_text(str(tracer.pid))\n"
            f"tracer.run([Command({argv[0]!r}, {argv!r})], environ={{'PATH': '/usr/bin:/bin'}}, cwd=file.parent,"
            " payload=file, timeout_s=100)",
        ],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
    )
    try:
        until(lambda: len(written(pids)) == 2, within_s=20)
        yield parent, written(pids), int((tmp_path / "tracer").read_text())
    finally:
        parent.kill()
        parent.communicate()


def test_nothing_traced_outlives_a_killed_parent(measuring):
    parent, started, tracer = measuring
    parent.kill()
    until(lambda: all(ended(pid) for pid in (*started, tracer)), within_s=20)


def test_nothing_traced_outlives_a_killed_tracer_and_the_parent_says_what_happened(measuring):
    parent, started, tracer = measuring
    subprocess.run(["kill", "-9", str(tracer)], check=True)
    until(lambda: all(ended(pid) for pid in started), within_s=20)
    assert b"in the middle of a run" in parent.communicate(timeout=20)[1]
