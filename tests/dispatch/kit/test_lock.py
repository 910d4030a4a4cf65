"""A lock that is waited for as long as its user has patience, and never longer."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from overdeck.dispatch.kit import lock


def test_a_lock_that_another_holds_is_given_up_when_patience_is_over(tmp_path: Path) -> None:
    first = lock.held(str(tmp_path / "lock"), 0)
    before = len([*Path("/dev/fd").iterdir()])
    started = time.monotonic()
    with pytest.raises(TimeoutError, match=r"more than 0\.1 s"):
        lock.held(str(tmp_path / "lock"), 0.1)
    assert time.monotonic() - started >= 0.1
    assert len([*Path("/dev/fd").iterdir()]) == before, "what was opened is closed"
    os.close(first)


def test_a_lock_is_had_as_soon_as_it_is_free(tmp_path: Path) -> None:
    first = lock.held(str(tmp_path / "lock"), 0)
    closer = threading.Timer(0.05, os.close, [first])
    closer.start()
    os.close(lock.held(str(tmp_path / "lock"), 60))
    closer.join()


def test_a_kill_leaves_no_lock_behind(tmp_path: Path) -> None:
    code = (
        "import sys; from overdeck.dispatch.kit import lock\n"
        "lock.held(sys.argv[1], 0); print('held', flush=True); input()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "lock"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    with pytest.raises(TimeoutError):
        lock.held(str(tmp_path / "lock"), 0)
    holder.kill()
    holder.communicate()
    os.close(lock.held(str(tmp_path / "lock"), 0))


def test_several_may_share_it_and_none_may_then_have_it_alone(tmp_path: Path) -> None:
    fds = [os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(3)]
    lock.take(fds[0], 0, shared=True)
    lock.take(fds[1], 0, shared=True)
    with pytest.raises(TimeoutError):
        lock.take(fds[2], 0)
    for fd in fds:
        os.close(fd)


def test_a_lock_file_is_its_owners_alone_and_no_link_is_followed(tmp_path: Path) -> None:
    os.close(lock.held(str(tmp_path / "lock"), 0))
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="link"):
        lock.held(str(tmp_path / "link"), 0)
    assert not (tmp_path / "elsewhere").exists()
