"""What stands in a hook's place: everything passes through it, and it keeps what it saw."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from overdeck.probe import witness


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
