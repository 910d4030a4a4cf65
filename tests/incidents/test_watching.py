"""Who waits for a proof is told how it goes, and may call it off: then what runs is ended and nothing is written."""

import select
import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from projects import AT, PLAIN, Project, reference
from waiting import ended, until

from overdeck.incidents import registry
from overdeck.incidents.registry import Registry
from overdeck.incidents.resolving import Closing, resolve
from overdeck.incidents.verifying import verify
from overdeck.incidents.watching import Cancelled, Watch

if TYPE_CHECKING:
    from conftest import Clone


def _here(project: Project) -> Registry:
    return registry.load(project.clone.root)


def test_each_step_is_told_and_the_output_is_heard(project: Project) -> None:
    sha = project.fix(
        "import guard, sys\nprint('seconds:', guard.seconds(), flush=True)\nsys.exit(guard.seconds() > 2)\n"
    )
    name, told, heard = project.clone.open(), list[str](), list[bytes]()
    resolve(
        _here(project),
        Closing([name], [reference(sha)]),
        AT,
        warn=pytest.fail,
        consent=lambda _: True,
        machine=list,
        watch=Watch(told.append, heard.append),
    )
    assert [line.split(" ")[0] for line in told] == [
        "fetching", "making", "running", "passed", "making", "running", "failed",
    ]  # fmt: skip
    assert b"".join(heard) == b"seconds: 1\nseconds: 9\n"


def test_a_run_that_is_called_off_is_ended_with_all_it_started(project: Project, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    sha = project.fix(
        f"import subprocess, time\naway = subprocess.Popen(['setsid', 'sleep', '600'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{away.pid}} ')\ntime.sleep(600)\n"
    )
    stop = threading.Event()
    name = project.clone.open()

    def call_off(_: object = None) -> None:
        until(lambda: pids.exists() and pids.read_text().endswith(" "), within_s=60)
        stop.set()

    before = project.clone.log_bytes()
    caller = threading.Thread(target=call_off)
    caller.start()
    start = time.monotonic()
    with pytest.raises(Cancelled) as raised:
        resolve(
            _here(project),
            Closing([name], [reference(sha)]),
            AT,
            warn=pytest.fail,
            consent=lambda _: True,
            machine=list,
            watch=Watch(stopped=stop.is_set),
        )
    caller.join()
    assert (raised.value.exit_code, raised.value.code) == (130, "cancelled")
    assert time.monotonic() - start < 50
    assert ended(int(pids.read_text()))
    assert project.clone.log_bytes() == before
    assert list(project.clone.home.glob("overdeck-evidence-*")) == []


def test_a_fetch_that_does_not_answer_is_called_off(clone: "Clone") -> None:
    name, sha = clone.open(), clone.land("fix")
    with socket.create_server(("127.0.0.1", 0)) as server:
        clone.git("remote", "set-url", "origin", f"git://127.0.0.1:{server.getsockname()[1]}/mute.git")
        with pytest.raises(Cancelled):
            resolve(
                registry.load(clone.root),
                Closing([name], [f"commit:{sha}"]),
                AT,
                warn=pytest.fail,
                watch=Watch(stopped=lambda: bool(select.select([server], [], [], 0)[0])),
            )
        with server.accept()[0] as git:
            while git.recv(4096):  # its question, and then its end
                pass


def test_what_is_called_off_before_it_is_written_is_not_written(clone: "Clone") -> None:
    """Not even a commit that holds: the last look is under the log's lock."""
    name = clone.open()
    sha = clone.land("fix", f"Incident: {name}")
    before = clone.log_bytes()
    looks = iter([False])  # before the fetch; the next look is before the write
    with pytest.raises(Cancelled):
        resolve(
            registry.load(clone.root),
            Closing([name], [f"commit:{sha}"]),
            AT,
            warn=pytest.fail,
            watch=Watch(stopped=lambda: next(looks, True)),
        )
    assert clone.log_bytes() == before


def test_a_verification_that_is_called_off_loses_no_evidence(project: Project) -> None:
    sha = project.fix()
    project.resolve(reference(sha))
    project.policy(PLAIN)
    before = project.clone.log_bytes()
    with pytest.raises(Cancelled):
        verify(
            _here(project),
            None,
            AT,
            warn=pytest.fail,
            consent=lambda _: True,
            machine=list,
            watch=Watch(stopped=lambda: True),
        )
    assert project.clone.log_bytes() == before
