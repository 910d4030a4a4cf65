"""What is run for one artifact: the same program on two commits, the one before the fix and the one with it."""

import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.git import git
from overdeck.incidents import commit
from overdeck.incidents.artifact import Artifact
from overdeck.incidents.commit import Branch, GitCheck, Landed, unverifiable
from overdeck.incidents.registry import Policy

_VENVS = (".venv/bin/python", "venv/bin/python")


class Side(NamedTuple):
    """One of the two commits."""

    name: str
    """``parent``, ``commit``, ``broken`` or ``head``: also the key of its run in a statement."""
    sha: str

    def __str__(self) -> str:
        return f"{self.name} {self.sha[:12]}"


class Comparison(NamedTuple):
    """A claim that can be put to the test: ``argv`` fails on ``old``, with the file of ``new`` laid over it, and
    succeeds on ``new``. Nothing has been run yet."""

    artifact: Artifact
    argv: tuple[str, ...]
    python: str
    """The project's interpreter; empty where there is none, which is an error only where argv needs it."""
    old: Side
    new: Side
    named: tuple[str, ...]
    """Incidents that the trailers of the fix name; a program has no fix of its own."""
    checks: tuple[GitCheck, ...]

    @property
    def plan(self) -> list[str]:
        """The lines to show before anything is run."""
        command = " ".join(self.argv)
        return [
            f"in a clean worktree of {self.new}: {command}",
            f"in a clean worktree of {self.old}, {self.artifact.path} of {self.new} laid over it: {command}",
        ]


def of_test(repo: Path, branch: Branch, test: Artifact, policy: Policy) -> Comparison:
    """Read ``test:PATH::ID@SHA``. Raises OverdeckError: rejected (4), unverifiable (5)."""
    landed = commit.find(repo, branch, test.sha)
    full = test._replace(sha=landed.sha)
    _check_file(repo, full, landed.sha)
    python = _interpreter(repo, policy, needed=any("{python}" in word for word in policy.test_command))
    argv = tuple(
        word.replace("{python}", python).replace("{path}", full.path).replace("{id}", full.id)
        for word in policy.test_command
    )
    sides = Side("parent", _parent(repo, full)), Side("commit", landed.sha)
    return Comparison(full, argv, python, *sides, landed.named, (*branch.checks, *landed.checks))


def of_program(repo: Path, branch: Branch, program: Artifact, policy: Policy, broken: str | None) -> Comparison:
    """Read ``repro:PATH`` or ``resume:PATH``. Raises OverdeckError: usage (2) without ``broken``, rejected (4),
    unverifiable (5)."""
    if broken is None:
        raise usage(
            f"{program} needs --broken: a program that ends well proves something only where it has failed before",
            code="no-broken",
            hint=f"--artifact {program} --broken REV, a commit that still has the trouble",
        )
    old = _landed_rev(repo, branch, broken)
    if old.sha == branch.head:
        raise rejected(
            program,
            f"{branch.name} is still at {old.sha[:12]}, which is said to be broken: nothing has been fixed since",
            "broken-is-head",
            f"land the fix in {branch.name}, then the same command again",
        )
    _check_file(repo, program, branch.head, executable=True)
    sides = Side("broken", old.sha), Side("head", branch.head)
    python = _interpreter(repo, policy, needed=False)
    return Comparison(program, (f"./{program.path}",), python, *sides, (), (*branch.checks, *old.checks))


def rejected(artifact: Artifact, why: str, code: str, hint: str) -> OverdeckError:
    """The artifact was looked at and does not hold: exit 4, and nothing is written."""
    return OverdeckError(
        why,
        code=code,
        exit_code=ExitCode.REJECTED,
        hint=hint,
        data={"artifact": str(artifact), "verdict": "rejected"},
    )


def _landed_rev(repo: Path, branch: Branch, rev: str) -> Landed:
    """The commit that ``--broken`` names: a SHA by its digits alone, since a branch may be called like one."""
    if not re.fullmatch(r"[0-9a-f]{7,64}", rev):
        found = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}", cwd=repo)
        if found.code != 0:
            raise unverifiable(
                f"--broken {rev!r} is no commit in {repo}",
                "unknown-commit",
                "give its SHA (git log --oneline), or name its repository: --repo DIR",
            )
        rev = found.stdout.strip()
    return commit.find(repo, branch, rev, role="the broken revision")


def _check_file(repo: Path, artifact: Artifact, sha: str, *, executable: bool = False) -> None:
    listed = git("--literal-pathspecs", "ls-tree", "-z", sha, "--", artifact.path, cwd=repo).stdout
    mode = listed.split(" ")[0]
    if not mode.startswith("100"):
        what = "is no file" if listed else "does not exist"
        raise rejected(
            artifact,
            f"{artifact.path} {what} in commit {sha[:12]}",
            "no-such-file",
            f"git ls-tree -r --name-only {sha[:12]}",
        )
    if executable and mode != "100755":
        raise rejected(
            artifact,
            f"{artifact.path} is not executable in commit {sha[:12]}, and it is run as it is",
            "not-executable",
            f"git update-index --chmod=+x {artifact.path}, commit and push",
        )


def _parent(repo: Path, test: Artifact) -> str:
    """The first parent of the commit: of a merge, what the branch was before it."""
    parents = git("rev-list", "--parents", "-n", "1", test.sha, cwd=repo).stdout.split()[1:]
    if parents:
        return parents[0]
    if commit.is_shallow(repo):
        raise unverifiable(
            f"this clone is shallow: it does not have the parent of {test.sha[:12]}",
            "shallow-clone",
            f"git -C {repo} fetch --unshallow, then the same command again",
        )
    raise rejected(
        test,
        f"commit {test.sha[:12]} has no parent: there is nothing before it on which {test.id} could fail",
        "no-parent",
        "name the commit that made the test pass",
    )


def _interpreter(repo: Path, policy: Policy, *, needed: bool) -> str:
    """The project's own Python. One that git tracks is none: it would be a program of whatever is checked out."""
    chosen = (policy.python,) if policy.python is not None else _VENVS
    for name in chosen:
        # Not resolved: a virtual environment is known by the path of its link.
        path = Path(os.path.normpath(repo / name))
        if not os.access(path, os.X_OK) or not path.is_file():
            continue
        if _is_tracked(repo, path):
            raise unverifiable(
                f"{path} is tracked by git, so it is no interpreter of this project but a file of a commit",
                "untrusted-interpreter",
                "make a virtual environment that git ignores, or set python in [evidence] of registry.toml",
            )
        return str(path)
    fallback = shutil.which("python3", path=os.defpath) if policy.python is None else None
    if fallback is None and needed:
        raise unverifiable(
            f"there is no interpreter to run a test with: none of {', '.join(chosen)} is in {repo}",
            "no-interpreter",
            "make the virtual environment of the project, or set python in [evidence] of registry.toml",
        )
    return fallback or ""


def _is_tracked(repo: Path, path: Path) -> bool:
    """Whether git tracks ``path``, a link on the way to it, or the file in ``repo`` that it leads to."""
    ways = [path, *path.parents, path.resolve()]
    tops = (repo, repo.resolve())
    inside = {str(way.relative_to(top)) for way in ways for top in tops if way.is_relative_to(top)} - {"."}
    listed = git("--literal-pathspecs", "ls-files", "-z", "--", *sorted(inside), cwd=repo) if inside else None
    return listed is not None and not inside.isdisjoint(listed.stdout.split("\0"))
