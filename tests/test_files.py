"""Taking turns: one lock for all that only one process may do at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.files import locked

HOLD = "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, 2); print(flush=True); sys.stdin.read()"


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that holds the lock until its stdin closes."""
    argv = [sys.executable, "-I", "-S", "-c", HOLD, str(tmp_path / "lock")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"\n"
        yield process


def test_a_lock_that_is_held_is_busy_and_says_by_whom(holder, tmp_path):
    with pytest.raises(OverdeckError) as raised, locked(tmp_path / "lock", 0.05, who="install"):
        pass

    assert (raised.value.exit_code, raised.value.code) == (ExitCode.BUSY, "busy")
    assert "another install is at work" in raised.value.message and str(tmp_path / "lock") in raised.value.hint


def test_a_lock_is_free_when_its_process_ends_however_it_ends(holder, tmp_path):
    holder.kill()
    with locked(tmp_path / "lock", 30, who="install"):
        pass


def test_a_lock_ends_with_its_block_and_its_file_is_private(tmp_path):
    for _ in range(2):
        with locked(tmp_path / "state" / "lock", who="install"):
            pass

    assert (tmp_path / "state" / "lock").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
