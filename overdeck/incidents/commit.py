"""Is this commit in the branch that ships, and does it name the incident? Asked of git, after a fetch.

Nothing that a log or a commit says reaches git as an option: SHAs are matched against ``[0-9a-f]``, the branch
against a pattern when registry.toml is read, and the remote must be one that the repository already has.
"""

import re
from pathlib import Path
from typing import NamedTuple

from overdeck.errors import ExitCode, OverdeckError, not_found
from overdeck.git import Answer, git

VERIFIER = "commit/1"
"""Goes up when the rule changes, so that evidence says by which rule it was accepted."""

FETCH_DEADLINE_S = 120.0
_FETCH_ATTEMPTS = 3


class GitCheck(NamedTuple):
    """One git command that was run, and how it ended."""

    argv: list[str]
    exit: int


class Branch(NamedTuple):
    """The branch that ships, as its remote has it now."""

    name: str
    """``origin/main``"""
    head: str
    checks: tuple[GitCheck, ...]


class Landed(NamedTuple):
    """A commit that is an ancestor of (or is) the head of the branch."""

    sha: str
    branch: Branch
    named: tuple[str, ...]
    """What its ``Incident:`` trailers say."""
    checks: tuple[GitCheck, ...]


def fetch(repo: Path, branch: str) -> Branch:
    """Fetch ``branch`` (``REMOTE/BRANCH``) and return its head. Raises OverdeckError (unverifiable, 5)."""
    remotes = _git(repo, "remote")
    if remotes.code != 0:
        raise unverifiable(
            f"{repo} is in no git repository, so no commit can be looked up",
            "no-repository",
            "--repo DIR names the repository that holds the fix",
        )
    known = [name for name in remotes.stdout.split() if branch.startswith(f"{name}/")]
    if not known:
        raise unverifiable(
            f"the repository {repo} has no remote for {branch}",
            "no-remote",
            f"git -C {repo} remote add {branch.partition('/')[0]} URL, or set branch in registry.toml",
        )
    remote = max(known, key=len)
    tracking = f"refs/remotes/{branch}"
    fetched = _fetch(repo, remote, f"+refs/heads/{branch.removeprefix(f'{remote}/')}:{tracking}")
    if fetched.code != 0:
        raise unverifiable(
            f"{branch} could not be fetched in {repo}: {fetched.complaint}",
            "fetch-failed",
            f"git -C {repo} fetch {remote}, then the same command again",
        )
    head = _git(repo, "rev-parse", "--verify", "--quiet", f"{tracking}^{{commit}}")
    if head.code != 0:
        raise unverifiable(f"{branch} is no commit in {repo}", "no-branch", f"git -C {repo} branch -r")
    return Branch(branch, head.stdout.strip(), (_check(fetched), _check(head)))


def find(repo: Path, branch: Branch, sha: str, *, role: str = "the fix") -> Landed:
    """Look for the commit ``sha`` (7 to 64 hex digits), which is said to be ``role``, in the fetched ``branch``.

    Raises OverdeckError: unverifiable (5) when the object is not there, not found (3) when the digits fit several
    commits, rejected (4) when it is there and not an ancestor.
    """
    full, naming = _full_sha(repo, sha, role)
    ancestor = _git(repo, "merge-base", "--is-ancestor", full, branch.head)
    if ancestor.code == 1:
        if is_shallow(repo):
            raise unverifiable(
                f"commit {full[:12]} was not met in {branch.name}, but this clone is shallow",
                "shallow-clone",
                f"git -C {repo} fetch --unshallow, then the same command again",
            )
        raise OverdeckError(
            f"commit {full[:12]} is not in {branch.name} (now at {branch.head[:12]}): {role} has not landed",
            code="not-landed",
            exit_code=ExitCode.REJECTED,
            hint=f"push it or merge it into {branch.name}, then run the same command again",
            data={"artifact": f"commit:{full}", "branch": branch.name, "head": branch.head, "verdict": "rejected"},
        )
    if ancestor.code != 0:
        raise unverifiable(
            f"git could not compare {full[:12]} with {branch.name}: {ancestor.complaint}",
            "git-failed",
            f"git -C {repo} fsck --connectivity-only",
        )
    trailers = _git(repo, "log", "-1", "--no-show-signature", "--format=%(trailers:key=Incident,valueonly)", full)
    named = tuple(word for word in re.split(r"[\s,]+", trailers.stdout) if word)
    return Landed(full, branch, named, (*naming, _check(ancestor), _check(trailers)))


def unverifiable(message: str, code: str, hint: str) -> OverdeckError:
    """Nobody can tell whether the artifact holds: exit 5, and nothing is written."""
    return OverdeckError(message, code=code, exit_code=ExitCode.UNVERIFIABLE, hint=hint)


def is_shallow(repo: Path) -> bool:
    """Whether the history of this clone is cut."""
    return _git(repo, "rev-parse", "--is-shallow-repository").stdout.strip() == "true"


def _full_sha(repo: Path, sha: str, role: str) -> tuple[str, tuple[GitCheck, ...]]:
    """The one commit whose name begins with ``sha``. Not ``rev-parse SHA``: a branch may be called like one."""
    listed = _git(repo, "rev-parse", f"--disambiguate={sha}")
    found = []
    for name in listed.stdout.split():
        kind = _git(repo, "cat-file", "-t", name)
        if kind.stdout.strip() == "commit":
            found.append(name)
    if not found:
        raise unverifiable(
            f"there is no commit {sha} in {repo}, even after a fetch: it may be mistyped, or not pushed yet, so nobody "
            f"can tell whether it is {role}",
            "unknown-commit",
            "check the SHA (git log --oneline), or name its repository: --repo DIR",
        )
    if len(found) > 1:
        raise not_found(
            f"{sha} is the beginning of {len(found)} commits in {repo}",
            code="ambiguous-sha",
            hint="give more of its digits",
            data={"candidates": [f"commit:{name}" for name in sorted(found)]},
        )
    return found[0], (_check(listed),)


def _fetch(repo: Path, remote: str, refspec: str) -> Answer:
    """``git fetch``; again while another process is updating the same ref."""
    for _ in range(_FETCH_ATTEMPTS):
        fetched = _git(
            repo,
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--upload-pack=git-upload-pack",
            "--",
            remote,
            refspec,
            deadline_s=FETCH_DEADLINE_S,
        )
        if fetched.code == 0 or "cannot lock ref" not in fetched.stderr:
            break
    return fetched


def _git(repo: Path, *args: str, deadline_s: float = 30.0) -> Answer:
    return git(*args, cwd=repo, deadline_s=deadline_s)


def _check(done: Answer) -> GitCheck:
    return GitCheck(list(done.argv), done.code)
