"""Appending: under a lock, on the disk before it is told, whole or not at all."""

import contextlib
import errno
import fcntl
import os
import re
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from waiting import until

from overdeck.errors import ExitCode, OverdeckError
from overdeck.incidents import log
from overdeck.incidents.event import seal
from overdeck.incidents.writer import writer_id, writing

Start = Callable[..., "subprocess.Popen[bytes]"]

APPEND_FOR_EVER = """
import sys
from pathlib import Path
from overdeck.incidents.event import seal
from overdeck.incidents.writer import writing
folder, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for n in range(1, count + 1):
    with writing(folder, patience_s=60) as writer:
        event, line = seal("noted", lamport=n, at="t", writer=who, incident="i", text="x" * 500)
        writer.append([line])
    print(event.id, flush=True)
"""


def _line(n: int = 1, size: int = 0) -> bytes:
    return seal("noted", lamport=n, at="t", writer="w", incident="i", text="x" * size)[1]


def _append(folder: Path, *lines: bytes) -> Path:
    with writing(folder) as writer:
        writer.append(lines)
        return writer.path


@pytest.fixture
def tmpfs(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, where this user may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)], capture_output=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if mounted.returncode != 0:
        pytest.skip("this user may not mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], capture_output=True, check=False)
        subprocess.run(["umount", str(folder)], check=True)


def test_a_writer_has_one_name_in_every_process_that_is_safe_as_a_file_name(tmp_path: Path, python: Start) -> None:
    source = "import pathlib, sys, overdeck.incidents.writer as w; print(w.writer_id(pathlib.Path(sys.argv[1])))"
    out, _ = python(source, str(tmp_path)).communicate()
    assert out.decode().strip() == writer_id(tmp_path)
    assert re.fullmatch(r"[a-z0-9-]+-[0-9a-f]{10}", writer_id(tmp_path))


def test_two_clones_on_one_host_are_two_writers(tmp_path: Path) -> None:
    assert writer_id(tmp_path / "a") != writer_id(tmp_path / "b")


def test_a_clone_reached_through_a_link_is_the_same_writer(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert writer_id(tmp_path / "link") == writer_id(tmp_path / "real")


def test_a_torn_last_line_stays_alone(tmp_path: Path) -> None:
    path = _append(tmp_path, _line(1))
    path.write_bytes(path.read_bytes() + _line(2)[:-30])
    _append(tmp_path, _line(3))
    history = log.read(tmp_path)
    assert [event.lamport for event in history.events] == [1, 3]
    assert [damage.line for damage in history.damages] == [2]


def test_processes_that_append_at_once_lose_nothing(tmp_path: Path, python: Start) -> None:
    writers = [python(APPEND_FOR_EVER, str(tmp_path), f"w{n}", "40") for n in range(6)]
    acknowledged = {name for writer in writers for name in writer.communicate()[0].decode().split()}
    history = log.read(tmp_path)
    assert len(acknowledged) == 240
    assert {event.id for event in history.events} == acknowledged
    assert history.damages == ()


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path, python: Start) -> None:
    acknowledged: set[str] = set()
    old: set[int] = set()
    """Torn lines that later writers have left alone."""
    for round_ in range(4):
        writers = [python(APPEND_FOR_EVER, str(tmp_path), f"{round_}-{n}", "1000000") for n in range(2)]
        for writer in writers:
            assert writer.stdout is not None
            acknowledged.add(writer.stdout.readline().decode().strip())
        time.sleep(0.02 * round_)  # into the run, another moment each round: the kill is to hit a write
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            whole_lines = writer.communicate()[0].decode().split("\n")[:-1]
            acknowledged.update(whole_lines)
        (path,) = tmp_path.glob("*.jsonl")
        torn = [] if path.read_bytes().endswith(b"\n") else [path.read_bytes().count(b"\n") + 1]
        assert [damage.line for damage in log.read(tmp_path).damages if damage.line not in old] == torn
        old.update(torn)
    _append(tmp_path, _line(10**6))
    history = log.read(tmp_path)
    assert acknowledged <= {event.id for event in history.events}
    assert history.events[-1].lamport == 10**6


def test_a_busy_log_is_told_as_busy_after_the_writers_patience(tmp_path: Path) -> None:
    path = _append(tmp_path, _line())
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OverdeckError) as raised, writing(tmp_path, patience_s=0.05):
            pass
    assert (raised.value.exit_code, raised.value.code) == (ExitCode.BUSY, "busy")


def test_reading_does_not_wait_for_a_writer_for_ever(tmp_path: Path) -> None:
    path = _append(tmp_path, _line())
    path.write_bytes(path.read_bytes() + b"torn")
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = time.monotonic()
        assert len(log.read(tmp_path).events) == 1
    assert time.monotonic() - started < 5


def test_a_line_that_is_just_being_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path = _append(tmp_path, _line(1))
    line = _line(2) + b"\n"
    with path.open("ab", buffering=0) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write(line[:40])

        def finish() -> None:
            held.write(line[40:])
            fcntl.flock(held, fcntl.LOCK_UN)

        writer = threading.Timer(0.2, finish)
        writer.start()
        history = log.read(tmp_path)
        writer.join()
    assert ([event.lamport for event in history.events], history.damages) == ([1, 2], ())


def _in_child(work: Callable[[], None]) -> int:
    """Run ``work`` in a fork (its limits are its own) and return the exit code it ends with."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            work()
            code = 0
        except OverdeckError as error:
            code = int(error.exit_code)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_write_cut_short_is_taken_back(tmp_path: Path) -> None:
    path = _append(tmp_path, _line(1))
    before = path.read_bytes()

    def beyond_the_limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, len(before) + 50))
        _append(tmp_path, _line(2, size=500))

    assert _in_child(beyond_the_limit) == ExitCode.USAGE
    assert path.read_bytes() == before


def test_on_a_full_disk_nothing_half_written_is_believed(tmpfs: Path) -> None:
    accepted = 0
    with pytest.raises(OverdeckError, match="nothing was recorded") as raised:
        while True:
            _append(tmpfs, _line(accepted + 1, size=3_000))
            accepted += 1
    assert raised.value.exit_code is ExitCode.USAGE
    history = log.read(tmpfs)
    assert [event.lamport for event in history.events] == list(range(1, accepted + 1))
    assert history.damages == ()


def test_a_read_only_log_is_a_clear_error(tmpfs: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(tmpfs)], check=True)
    with pytest.raises(OverdeckError, match="Read-only file system") as raised:
        _append(tmpfs, _line())
    assert raised.value.exit_code is ExitCode.USAGE
    assert str(tmpfs) in raised.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_log_folder_without_permission_is_a_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OverdeckError, match="Permission denied"):
        _append(tmp_path, _line())


def test_a_write_into_a_file_that_git_replaced_is_not_acknowledged(tmp_path: Path) -> None:
    path = _append(tmp_path, _line(1))
    with writing(tmp_path) as writer:
        path.rename(tmp_path / "old")
        path.write_bytes((tmp_path / "old").read_bytes())
        with pytest.raises(OverdeckError, match="was replaced during the write"):
            writer.append([_line(2)])
    assert [event.lamport for event in log.read(tmp_path).events] == [1]


def test_a_file_replaced_while_a_writer_waits_is_opened_again(tmp_path: Path, python: Start) -> None:
    path = _append(tmp_path, _line(1))
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = python(APPEND_FOR_EVER, str(tmp_path), "late", "1")
        until(lambda: str(path) in _open_files(waiting.pid))
        path.rename(tmp_path / "old")
    waiting.communicate()
    assert waiting.returncode == 0
    assert [event.writer for event in log.read(tmp_path).events] == ["late"]


def _open_files(pid: int) -> list[str]:
    folder = Path(f"/proc/{pid}/fd")
    if not folder.is_dir():
        pytest.skip("there is no /proc here")
    names = []
    for link in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            names.append(str(link.readlink()))
    return names


def test_several_lines_are_one_write(tmp_path: Path, monkeypatch: Any) -> None:
    writes: list[int] = []
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: (writes.append(len(data)), real(fd, data))[1])
    _append(tmp_path, _line(1), _line(2), _line(3))
    assert len(writes) == 1


def test_a_file_system_without_locks_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OverdeckError, match="No locks available") as refusal, writing(tmp_path):
        pass
    assert refusal.value.exit_code is ExitCode.USAGE
