"""Base, a copy of base, and head: each checked out and built in one temporary folder, and gone afterwards.

All are built in the same job on the same machine: a number from another day says nothing. Their paths are of
equal length, because a path's length moves the stack and so the time. The copy ("ctrl") is built again rather
than copied, so that it goes through everything that head goes through, and a difference of it from base is one
that this machine makes out of nothing.
"""

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from overdeck.errors import InvalidMeasurement
from overdeck.git import NoWorkTree, git, top
from overdeck.process import Completed, run

BUILD_DEADLINE_S = 900.0
_STRIPPED = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
_LOG_TAIL = 12


@dataclass(frozen=True)
class Build:
    """One side: ``name`` is "base", "ctrl" or "head"; ``source`` its checkout, ``prefix`` what was built from it."""

    name: str
    source: Path
    prefix: Path
    home: Path
    work: Path

    def staged(self, stage: int) -> "Build":
        """The same build with a HOME and a working directory in which nothing has run: a batch needs its own,
        or what one batch leaves behind (a log, a database) is in the numbers of the next.
        """
        home, work = (folder.with_name(f"{folder.name[:4]}{stage:04}") for folder in (self.home, self.work))
        for folder in (home, work):
            folder.mkdir()
        return replace(self, home=home, work=work)

    def fill(self, words: Sequence[str]) -> tuple[str, ...]:
        """Replace ``{bin}``, ``{prefix}``, ``{source}`` and ``{home}``; other braces stay (JSON has them)."""
        folders = {
            "{bin}": self.prefix / "bin",
            "{prefix}": self.prefix,
            "{source}": self.source,
            "{home}": self.home,
        }
        filled = []
        for word in words:
            for placeholder, folder in folders.items():
                word = word.replace(placeholder, str(folder))
            filled.append(word)
        return tuple(filled)


class Sides(NamedTuple):
    """What a gate compares: ``head`` with ``base``, and before that ``control``, the base once more, with it."""

    base: Build
    control: Build
    head: Build


def repository(folder: Path) -> Path:
    """The top of the git work tree that ``folder`` is in; raises InvalidMeasurement where it is in none."""
    try:
        return top(folder, hint="git init")
    except NoWorkTree as error:
        raise InvalidMeasurement(
            f"there is no base to build: {error.message}", code=error.code, hint=error.hint
        ) from None


def commit_of(revision: str, root: Path) -> str:
    """The commit that ``revision`` names; raises InvalidMeasurement where this repository has no such commit."""
    found = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", cwd=root)
    if found.code != 0:
        raise InvalidMeasurement(
            f"the base {revision} is not a commit of {root}",
            code="no-such-base",
            hint=f"fetch it (a shallow clone lacks it): git fetch origin {revision}",
        )
    return found.stdout.strip()


@contextmanager
def build_sides(root: Path, commit: str, build: Sequence[str], note: Callable[[str], None]) -> Iterator[Sides]:
    """Build ``commit`` twice and the current work tree of ``root`` (tracked and unignored files) once.

    ``build`` is the argv to run in each checkout; empty = a venv of this interpreter and ``pip install .``.
    Raises InvalidMeasurement, with the end of the build's output, where one of them fails, and OSError where a
    checkout cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="hookbench-gate-") as temporary:
        # Resolved, for git lists and removes worktrees by their real path.
        sides = Sides(*(_side(Path(temporary).resolve() / name) for name in ("base", "ctrl", "head")))
        try:
            for side in (sides.base, sides.control):
                _check_out(root, commit, side)
            _copy_work_tree(root, sides.head.source)
            for side in sides:
                note(f"building {side.name}")
                _build(side, build)
            yield sides
        finally:
            for side in (sides.base, sides.control):
                git("worktree", "remove", "--force", "--force", str(side.source), cwd=root)
                shutil.rmtree(side.source, ignore_errors=True)
            git("worktree", "prune", cwd=root)


def _side(folder: Path) -> Build:
    folder.mkdir()
    side = Build(folder.name, folder / "tree", folder / "prefix", folder / "home0000", folder / "work0000")
    for made in (side.prefix, side.home, side.work):
        made.mkdir()
    return side


def _check_out(root: Path, commit: str, side: Build) -> None:
    made = git("worktree", "add", "--detach", str(side.source), commit, cwd=root, deadline_s=300)
    if made.code != 0:
        raise InvalidMeasurement(
            f"base {commit[:12]} could not be checked out: {made.complaint}",
            code="base-checkout",
            hint=f"try: git worktree add --detach /tmp/base {commit[:12]}; and df -h {tempfile.gettempdir()}",
        )


def _copy_work_tree(root: Path, target: Path) -> None:
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=root)
    if listed.code != 0:
        raise InvalidMeasurement(
            f"git cannot list the files of {root}: {listed.complaint}",
            code="head-checkout",
            hint=f"git -C {root} status",
        )
    for name in filter(None, listed.stdout.split("\0")):
        source, copy = root / name, target / name
        if source.is_symlink() or source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)


def _build(side: Build, build: Sequence[str]) -> None:
    if build:
        steps = [side.fill(build)]
    else:
        python = str(side.prefix / "bin" / "python")
        steps = [
            (sys.executable, "-m", "venv", str(side.prefix)),
            (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "."),
        ]
    # A build is no arm: it needs the caller's proxy, certificates and package index.
    environ = {key: value for key, value in os.environ.items() if key not in _STRIPPED}
    for argv in steps:
        ran = run(argv, env=environ, cwd=side.source, deadline_s=BUILD_DEADLINE_S)
        if isinstance(ran, Completed) and ran.code == 0:
            continue
        said = f"exit {ran.code}\n{_tail(ran.output)}" if isinstance(ran, Completed) else ran.why
        raise InvalidMeasurement(
            f"{side.name} does not build: {shlex.join(argv)}: {said}".rstrip(),
            code=f"{side.name}-build",
            hint="build it by hand in a clean checkout",
        )


def _tail(output: str) -> str:
    return "\n".join(output.splitlines()[-_LOG_TAIL:])
