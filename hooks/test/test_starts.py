"""What a call starts, counted by strace: the front alone when nothing acts; else one program and a fork a survivor."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from fronts import Front, bash

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")


def counted(front: Front, tmp_path: Path, command: str) -> tuple[int, int]:
    """(successful execs, forks) of one call, the front's own exec included."""
    trace = tmp_path / "trace"
    subprocess.run(
        ["strace", "-f", "-qq", "-z", "-e", "trace=execve,execveat,fork,vfork,clone,clone3", "-o", str(trace),
         *front.argv("PreToolUse")],
        input=json.dumps(bash(command)).encode(), capture_output=True, check=True, env={},
    )  # fmt: skip
    text = trace.read_text()
    execs = len(re.findall(r"execve(?:at)?\(.*= 0|execve(?:at)? resumed.*= 0", text))
    forks = len(re.findall(r"(?:clone3?|v?fork)(?:\(| resumed).*= \d+$", text, re.MULTILINE))
    return execs, forks


def test_a_call_starts_what_the_design_says(native_front: Path, tmp_path: Path) -> None:
    front = Front(tmp_path, native=native_front)
    for number in range(3):
        front.module(f"m{number}", "return None", toml=f'literals = ["word{number}"]')
    front.install()
    assert counted(front, tmp_path, "ls") == (1, 0)
    assert counted(front, tmp_path, "word1") == (2, 1 + 1)
    assert counted(front, tmp_path, "word0 word1 word2") == (2, 1 + 3)
    assert front.calls()[-1]["ran"].keys() == {"m0", "m1", "m2"}


def test_a_native_observer_starts_nothing_and_logs_no_input(native_front: Path, tmp_path: Path) -> None:
    front = Front(tmp_path, native=native_front)
    front.module("journal", "", cls="observer", toml='native = ["event", "tool", "session", "sub", "in"]',
                 events={"PreToolUse": "*"})  # fmt: skip
    front.install()
    assert counted(front, tmp_path, "echo SECRET") == (1, 0)
    line = json.loads((front.state / "modules" / "journal" / "journal.jsonl").read_text())
    assert line.keys() == {"ts", "event", "tool", "session", "sub", "in"}
    assert (line["event"], line["tool"], line["sub"]) == ("PreToolUse", "Bash", False)
