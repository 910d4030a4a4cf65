"""What the bench tests share: the command as a user runs it, a real payload, and arms of known cost."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


class Said(NamedTuple):
    """What one call of ``hookbench`` printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> dict:
        return json.loads(self.out)["data"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Built up: a temporary HOME, this checkout's package, nothing of the developer's."""
    home = tmp_path / "caller-home"
    home.mkdir()
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "SECRET_TOKEN": "must-not-reach-an-arm",
    }


@pytest.fixture
def hookbench_argv() -> list[str]:
    """The command, installed or not."""
    return [sys.executable, "-c", "from overdeck.cli.doors import hookbench; hookbench()"]


@pytest.fixture
def hookbench(tmp_path: Path, environ: dict[str, str], hookbench_argv: list[str]) -> Callable[..., Said]:
    """Call ``hookbench WORDS…`` in ``tmp_path`` and wait."""

    def call(*words: object, cwd: Path = tmp_path) -> Said:
        ended = subprocess.run(
            [*hookbench_argv, *map(str, words)],
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        return Said(ended.returncode, ended.stdout, ended.stderr)

    return call


@pytest.fixture
def scenarios() -> Path:
    """The shipped input of the benches."""
    return ROOT / "bench" / "scenarios"


@pytest.fixture
def payload(scenarios: Path) -> Path:
    """A recorded PreToolUse call that no guard minds."""
    return scenarios / "payloads" / "noop.bash.json"


@pytest.fixture
def python() -> Callable[[str], str]:
    """An arm: a bare interpreter that runs the given code."""
    return lambda code: shlex.join([sys.executable, "-I", "-S", "-c", code])


@pytest.fixture
def burning(python: Callable[[str], str]) -> Callable[[int], str]:
    """An arm: a bare interpreter that burns the given milliseconds of CPU time."""
    return lambda ms: python(
        f"import time\nend = time.process_time() + {ms / 1000}\nwhile time.process_time() < end: pass"
    )
