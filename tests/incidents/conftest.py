"""The fixtures of clones.py, and what the registry's own tests need besides."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from clones import Clone, clone, home, project, template
from homes import Home
from repositories import git

from overdeck.incidents import creating, registry

__all__ = ["Clone", "clone", "home", "project", "template"]


@pytest.fixture
def second_clone(tmp_path: Path, home: Path, clone: Clone) -> Clone:
    """Another clone of the same remote, on the same host and by the same user."""
    top = tmp_path / "second"
    git(tmp_path, "clone", "--quiet", f"file://{tmp_path}/remote.git", str(top), home=home)
    return Clone(top, home)


@pytest.fixture
def local(tmp_path: Path) -> registry.Registry:
    """A registry outside git, for the cores."""
    root = tmp_path / "incidents"
    creating.create(root)
    return registry.load(root)


@pytest.fixture
def python(home: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Start a Python program that can import overdeck: ``python(source, *argv)``."""

    def start(source: str, *argv: str, **more: Any) -> subprocess.Popen[bytes]:
        command: Sequence[str] = [sys.executable, "-c", source, *argv]
        return subprocess.Popen(command, env=Home(home).environment(), stdout=subprocess.PIPE, **more)

    return start
