"""What stands in a hook's place: everything passes through it, and it keeps what it saw."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from waiting import until

from overdeck.probe import facts, witness
from overdeck.probe.mock import anthropic
from overdeck.probe.mock.script import Script
from overdeck.probe.mock.server import MockModel
from overdeck.probe.session import Session


def started(
    folder: Path, *argv: str, stdin: bytes = b"{}"
) -> tuple[subprocess.CompletedProcess[bytes], dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", witness.__file__, str(folder), "7", *argv],
        input=stdin, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    (kept,) = folder.glob("7-*.json")
    return done, json.loads(kept.read_bytes())


def test_input_output_and_exit_code_pass_through_as_they_are(tmp_path: Path) -> None:
    raw = b'{"a": "\xff"}' + b"x" * 1_000_000
    done, seen = started(tmp_path, "/bin/sh", "-c", "cat; echo err >&2; exit 2", stdin=raw)
    assert (done.returncode, done.stdout, done.stderr) == (2, raw, b"err\n")
    assert (seen["hook"], seen["code"], seen["stderr"]) == (7, 2, "err\n")
    (payload,) = tmp_path.glob("7-*.payload")
    assert payload.read_bytes() == raw


def test_a_program_that_is_not_there_ends_as_a_shell_ends_and_is_named(tmp_path: Path) -> None:
    done, seen = started(tmp_path, "/nowhere/hook")
    assert done.returncode == 127
    assert "/nowhere/hook" in seen["not_started"]


def test_a_hook_that_a_signal_ended_ends_as_a_shell_says_it(tmp_path: Path) -> None:
    assert started(tmp_path, "/bin/sh", "-c", "kill -9 $$")[0].returncode == 137


@pytest.fixture
def at_work(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A witness whose hook waits for a word in ``tmp_path/fifo``."""
    os.mkfifo(tmp_path / "fifo")
    hook = ["/bin/sh", "-c", 'read word < "$0"', str(tmp_path / "fifo")]
    with subprocess.Popen(
        [sys.executable, "-I", "-S", witness.__file__, str(tmp_path), "7", *hook], stdin=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        running.stdin.close()
        until(lambda: list(tmp_path.glob("7-*.json")))
        yield running
        os.close(os.open(tmp_path / "fifo", os.O_RDWR))  # a hook that was left alone ends, too


def read(records: Path) -> list[facts.Fire]:
    """The fires of a session that has ended."""
    with MockModel(anthropic, Script.of()) as model:
        pass
    return list(facts.as_json("s", Session(model, 0, "", "", "", 0.1, 0.1), records)["fires"])


def test_a_hook_that_is_at_work_when_its_client_ends_is_waited_for(
    tmp_path: Path, at_work: subprocess.Popen[bytes]
) -> None:
    with ThreadPoolExecutor(1) as pool:
        fires = pool.submit(read, tmp_path)
        with pytest.raises(TimeoutError):
            fires.result(0.3)
        (tmp_path / "fifo").write_text("on\n")
        assert [fire.wall_s is not None for fire in fires.result(30)] == [True]


def test_a_hook_that_its_client_killed_is_not(tmp_path: Path, at_work: subprocess.Popen[bytes]) -> None:
    at_work.kill()
    at_work.wait(10)
    with ThreadPoolExecutor(1) as pool:
        assert [fire.wall_s for fire in pool.submit(read, tmp_path).result(facts.SETTLED_S / 2)] == [None]
