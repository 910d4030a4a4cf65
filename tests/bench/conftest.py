"""What the bench tests share: the command as a user runs it, a real payload, and arms of known cost."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from gated import Repository
from homes import Home, Ran

from overdeck.paths import shipped


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "caller-home")


@pytest.fixture
def environ(home: Home) -> dict[str, str]:
    """Built up: a temporary HOME, this interpreter on PATH, nothing of the developer's."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return home.environment(PATH=path, SECRET_TOKEN="must-not-reach-an-arm")


@pytest.fixture
def hookbench(tmp_path: Path, home: Home, environ: dict[str, str]) -> Callable[..., Ran]:
    """Call ``hookbench WORDS…`` in ``tmp_path`` and wait."""

    def call(*words: object, cwd: Path = tmp_path) -> Ran:
        return home.run("hookbench", *map(str, words), cwd=cwd, env=environ)

    return call


@pytest.fixture
def scenarios() -> Path:
    """The shipped input of the benches."""
    return shipped("bench", "scenarios")


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


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    home = tmp_path / "git-home"
    home.mkdir()
    return Repository(tmp_path / "repository", home)


@pytest.fixture
def gate(hookbench: Callable, repository: Repository, environ: dict[str, str], tmp_path: Path) -> Callable:
    """Run the gate in the repository, with its temporary files in a folder that can be looked into."""
    environ["TMPDIR"] = str(tmp_path / "temporary")
    (tmp_path / "temporary").mkdir()
    return lambda *words: hookbench("gate", "--pairs-cap", 16, *words, cwd=repository.root)
