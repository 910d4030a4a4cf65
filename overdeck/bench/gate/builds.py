"""Base, a copy of base, and head: each checked out and built in one temporary folder, and gone afterwards.

All are built in the same job on the same machine: a number from another day says nothing. Their paths are of
equal length, because a path's length moves the stack and so the time. The copy ("ctrl") is built again rather
than copied, so that it goes through everything that head goes through, and a difference of it from base is one
that this machine makes out of nothing.
"""

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from overdeck.bench.gate.carried import check_links, copy_work_tree
from overdeck.errors import InvalidMeasurement, OverdeckError
from overdeck.files import locked
from overdeck.git import Answer, NoWorkTree, git, top
from overdeck.process import Completed, run

BUILD_DEADLINE_S = 900.0
_STRIPPED = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
_BUILT = ("{bin}", "{prefix}", "{source}")
_RUNNERS = re.compile(r"(.*/)?(sh|bash|dash|zsh|env|node|perl|ruby|python[0-9.]*)")
"""What runs a file that is named behind it."""
_LOG_TAIL = 12
_PREFIX = "hookbench-gate-"
_LOCK = "alive"
"""A file in a gate's folder that is locked for as long as the gate lives."""


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


def runs_its_own(argv: Sequence[str]) -> bool:
    """Whether what ``argv`` runs, placeholders still in it, is a side's own, and not the same program on every side.

    ``{home}`` may also be a mere argument, so it counts where it is run.

    >>> runs_its_own(["sh", "-c", "cat | $0", "{bin}/hook"]), runs_its_own(["hook", "--plan", "{home}/plan"])
    (True, False)
    """
    if any(folder in word for word in argv for folder in _BUILT):
        return True
    return any("{home}" in word for word in (argv if _RUNNERS.fullmatch(argv[0]) else argv[:1]))


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
    except OverdeckError as error:
        raise InvalidMeasurement(error.message, code=error.code, hint=error.hint) from None


def commit_of(revision: str, root: Path) -> str:
    """The commit that ``revision`` names; raises InvalidMeasurement where this repository has no such commit."""
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", cwd=root)
    if found.code != 0:
        raise InvalidMeasurement(
            f"the base {revision} is not a commit of {root}",
            code="no-such-base",
            hint=f"fetch it (a shallow clone lacks it): {shlex.join(['git', 'fetch', 'origin', revision])}",
        )
    return found.stdout.strip()


def _git(*args: str, cwd: Path, deadline_s: float = 30.0) -> Answer:
    """``git``; where it is missing or hangs, nothing can be compared: InvalidMeasurement."""
    try:
        return git(*args, cwd=cwd, deadline_s=deadline_s)
    except OverdeckError as error:
        raise InvalidMeasurement(error.message, code=error.code, hint=error.hint) from None


def _sweep(root: Path) -> None:
    """Remove what gates of this repository left behind that were killed: their folders, then their worktrees."""
    listed = _git("worktree", "list", "--porcelain", cwd=root)
    for line in listed.stdout.splitlines():
        folder = Path(line.removeprefix("worktree ")).parent.parent
        if not (line.startswith("worktree ") and folder.name.startswith(_PREFIX)):
            continue
        with suppress(OverdeckError, OSError):  # at work, or another user's
            if (folder / _LOCK).is_file():
                with locked(folder / _LOCK, who="gate"):
                    shutil.rmtree(folder, ignore_errors=True)
    _git("worktree", "prune", cwd=root)


@contextmanager
def build_sides(root: Path, commit: str, build: Sequence[str], note: Callable[[str], None]) -> Iterator[Sides]:
    """Build ``commit`` twice and the current work tree of ``root`` (tracked and unignored files) once.

    ``build`` is the argv to run in each checkout; empty = a venv of this interpreter and ``pip install .``.
    Raises InvalidMeasurement, with the end of the build's output, where one of them fails, and OSError where a
    checkout cannot be written.
    """
    _sweep(root)
    with ExitStack() as stack:
        temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix=_PREFIX))
        # Resolved, for git lists and removes worktrees by their real path.
        folder = Path(temporary).resolve()
        stack.enter_context(locked(folder / _LOCK, who="gate"))
        sides = Sides(*(_side(folder / name) for name in ("base", "ctrl", "head")))
        try:
            for side in (sides.base, sides.control):
                _check_out(root, commit, side)
            copy_work_tree(root, sides.head.source)
            for side in sides:
                check_links(side.name, side.source, root)
            for side in sides:
                note(f"building {side.name}")
                _build(side, build)
            yield sides
        finally:
            for side in (sides.base, sides.control):
                _git("worktree", "remove", "--force", "--force", str(side.source), cwd=root)
                shutil.rmtree(side.source, ignore_errors=True)
            _git("worktree", "prune", cwd=root)


def _side(folder: Path) -> Build:
    folder.mkdir()
    side = Build(folder.name, folder / "tree", folder / "prefix", folder / "home0000", folder / "work0000")
    for made in (side.prefix, side.home, side.work):
        made.mkdir()
    return side


def _check_out(root: Path, commit: str, side: Build) -> None:
    made = _git("worktree", "add", "--detach", str(side.source), commit, cwd=root, deadline_s=300)
    if made.code != 0:
        raise InvalidMeasurement(
            f"base {commit[:12]} could not be checked out: {made.complaint}",
            code="base-checkout",
            hint=f"try: git worktree add --detach /tmp/base {commit[:12]}; and "
            f"{shlex.join(['df', '-h', tempfile.gettempdir()])}",
        )


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
