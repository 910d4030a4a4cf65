"""Is this commit in the branch that ships, and does it name the incident? Asked of git, after a fetch.

Nothing that a log or a commit says reaches git as an option: SHAs are matched against ``[0-9a-f]``, the branch
against a pattern when registry.toml is read, and the remote must be one that the repository already has.
"""

import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.errors import ExitCode, OverdeckError, not_found
from overdeck.git import Answer, git, programs
from overdeck.incidents import elsewhere
from overdeck.incidents.watching import NOBODY, Watch

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
    remote: str
    """``origin``; a remote's name may hold a slash, too."""

    def push(self, clone: Path, sha: str) -> str:
        """The command that would bring the commit ``sha`` of ``clone`` into the branch."""
        return f"{_at(clone)} push {self.remote} {sha[:12]}:{self.name.removeprefix(f'{self.remote}/')}"


class Landed(NamedTuple):
    """A commit that is an ancestor of (or is) the head of the branch."""

    sha: str
    branch: Branch
    named: tuple[str, ...]
    """What its ``Incident:`` trailers say."""
    checks: tuple[GitCheck, ...]


def fetch(repo: Path, branch: str, watch: Watch = NOBODY) -> Branch:
    """Fetch ``branch`` (``REMOTE/BRANCH``) and return its head. Raises OverdeckError (unverifiable, 5)."""
    watch.check()
    watch.tell(f"fetching {branch} into {repo}")
    remotes = _git(repo, "remote")
    if remotes.code != 0:
        raise unverifiable(
            f"{repo} is in no git repository, so no commit can be looked up",
            "no-repository",
            "--repo DIR names the repository that holds the fix",
        )
    if named := programs(repo):
        raise unverifiable(
            f"nothing was fetched in {repo}: its own configuration names a program that a fetch would run "
            f"({', '.join(named)})",
            "repository-names-programs",
            f"{_at(repo)} config --get {named[0]} shows it; if it is yours, set it with git config --global and "
            f"take it out here: {_at(repo)} config --unset {named[0]}",
        )
    known = [name for name in remotes.stdout.split() if branch.startswith(f"{name}/")]
    if not known:
        raise unverifiable(
            f"the repository {repo} has no remote for {branch}",
            "no-remote",
            f"{_at(repo)} remote add {branch.partition('/')[0]} URL, or set branch in registry.toml",
        )
    remote = max(known, key=len)
    tracking = f"refs/remotes/{branch}"
    fetched = _fetch(repo, remote, f"+refs/heads/{branch.removeprefix(f'{remote}/')}:{tracking}", watch)
    name = branch.removeprefix(f"{remote}/")
    if fetched.code != 0 and "couldn't find remote ref" in fetched.stderr:
        raise unverifiable(
            f"{remote} has no branch {name}: nothing of it has been pushed from {repo} yet",
            "branch-not-pushed",
            f"{_at(repo)} push -u {remote} HEAD:{name}, then the same command again; where another branch ships, set "
            "branch in registry.toml",
        )
    if fetched.code != 0:
        raise unverifiable(
            f"{branch} could not be fetched in {repo}: {fetched.complaint}",
            "fetch-failed",
            f"{_at(repo)} fetch {remote}, then the same command again",
        )
    head = _git(repo, "rev-parse", "--verify", "--quiet", f"{tracking}^{{commit}}")
    if head.code != 0:
        raise unverifiable(f"{branch} is no commit in {repo}", "no-branch", f"{_at(repo)} branch -r")
    return Branch(branch, head.stdout.strip(), (_check(fetched), _check(head)), remote)


def find(repo: Path, branch: Branch, sha: str, *, role: str = "the fix") -> Landed:
    """Look for the commit ``sha`` (7 to 64 hex digits), which is said to be ``role``, in the fetched ``branch``.

    Raises OverdeckError: unverifiable (5) when the object is not there, not found (3) when the digits fit several
    commits, rejected (4) when it is there and not an ancestor.
    """
    full, naming = _full_sha(repo, branch, sha, role)
    ancestor = _git(repo, "merge-base", "--is-ancestor", full, branch.head)
    if ancestor.code == 1:
        if is_shallow(repo):
            raise unverifiable(
                f"commit {full[:12]} was not met in {branch.name}, but this clone is shallow",
                "shallow-clone",
                f"{_at(repo)} fetch --unshallow, then the same command again",
            )
        raise _not_landed(repo, branch, full, role)
    if ancestor.code != 0:
        raise unverifiable(
            f"git could not compare {full[:12]} with {branch.name}: {ancestor.complaint}",
            "git-failed",
            f"{_at(repo)} fsck --connectivity-only",
        )
    trailers = _git(repo, "log", "-1", "--no-show-signature", "--format=%(trailers:key=Incident,valueonly)", full)
    named = tuple(word for word in re.split(r"[\s,]+", trailers.stdout) if word)
    return Landed(full, branch, named, (*naming, _check(ancestor), _check(trailers)))


def _not_landed(repo: Path, branch: Branch, full: str, role: str) -> OverdeckError:
    """The error for a commit that is here and not in the branch: it has not been pushed, or it never will."""
    if _git(repo, "merge-base", full, branch.head).code == 1:
        return rejected(
            f"commit {full[:12]} has no history in common with {branch.name} of {repo}: it is another repository's, "
            f"whose objects were fetched into this clone, so it cannot be {role}",
            "other-history",
            f"{_at(repo)} log --oneline {branch.name} shows the commits that count; --repo DIR names the other "
            "repository",
            {"artifact": f"commit:{full}", "branch": branch.name, "head": branch.head},
        )
    ahead = _git(repo, "merge-base", "--is-ancestor", branch.head, full).code == 0
    push = branch.push(repo, full) if ahead else f"merge it into {branch.name} and push that"
    return rejected(
        f"commit {full[:12]} is not in {branch.name} (now at {branch.head[:12]}): {role} has not landed",
        "not-landed",
        f"{push}, then the same command again",
        {"artifact": f"commit:{full}", "branch": branch.name, "head": branch.head},
    )


def rejected(message: str, code: str, hint: str, data: dict[str, Any]) -> OverdeckError:
    """The artifact was looked at and does not hold: exit 4, and nothing is written."""
    whole = {**data, "verdict": "rejected"}
    return OverdeckError(message, code=code, exit_code=ExitCode.REJECTED, hint=hint, data=whole)


def unverifiable(message: str, code: str, hint: str) -> OverdeckError:
    """Nobody can tell whether the artifact holds: exit 5, and nothing is written."""
    return OverdeckError(message, code=code, exit_code=ExitCode.UNVERIFIABLE, hint=hint)


def is_shallow(repo: Path) -> bool:
    """Whether the history of this clone is cut."""
    return _git(repo, "rev-parse", "--is-shallow-repository").stdout.strip() == "true"


def _full_sha(repo: Path, branch: Branch, sha: str, role: str) -> tuple[str, tuple[GitCheck, ...]]:
    """The one commit whose name begins with ``sha``. Not ``rev-parse SHA``: a branch may be called like one."""
    listed = _git(repo, "rev-parse", f"--disambiguate={sha}")
    kinds = {name: _git(repo, "cat-file", "-t", name).stdout.strip() for name in listed.stdout.split()}
    found = [name for name, kind in kinds.items() if kind == "commit"]
    if not found:
        raise _no_commit(repo, branch, sha, role, {name: kind for name, kind in kinds.items() if kind})
    if len(found) > 1:
        raise not_found(
            f"{sha} is the beginning of {len(found)} commits in {repo}",
            code="ambiguous-sha",
            hint="give more of its digits",
            data={"candidates": [f"commit:{name}" for name in sorted(found)]},
        )
    return found[0], (_check(listed),)


def _no_commit(repo: Path, branch: Branch, sha: str, role: str, others: dict[str, str]) -> OverdeckError:
    """The error for digits that no commit of ``repo`` begins with; ``others`` are the objects that do, by kind."""
    if others:
        name, kind = next(iter(others.items()))
        peeled = _git(repo, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").stdout.strip()
        return rejected(
            f"{sha} is a {kind} of {repo}, and no commit: it cannot be {role}",
            "not-a-commit",
            f"--artifact commit:{peeled} is what the tag names"
            if peeled
            else f"{_at(repo)} log --oneline shows the commits",
            {"artifact": f"commit:{name}"},
        )
    holder = elsewhere.holder(repo, sha)
    # A clone may be behind the branch, so it is known by where the history begins.
    roots = _git(repo, "rev-list", "--max-parents=0", branch.head).stdout.split()
    clone = holder if holder is not None and any(elsewhere.has(holder, root) for root in roots[:3]) else None
    if holder is not None and clone is None:
        return unverifiable(
            f"commit {sha[:12]} is not of {repo}: it is of another repository, {holder}",
            "other-repository",
            f"the same command with --repo {holder}, if {role} belongs there",
        )
    if is_shallow(repo):
        return unverifiable(
            f"there is no commit {sha} in {repo}, but this clone is shallow: it may lie behind the cut",
            "shallow-clone",
            f"{_at(repo)} fetch --unshallow, then the same command again",
        )
    if clone is not None:
        return unverifiable(
            f"commit {sha[:12]} is not in {repo}, only in another clone of it, {clone}: {role} has not been pushed",
            "not-pushed",
            f"{branch.push(clone, sha)}, then the same command again",
        )
    return unverifiable(
        f"there is no commit {sha} in {repo}, even after a fetch: it may be mistyped, or not pushed yet, so nobody "
        f"can tell whether it is {role}",
        "unknown-commit",
        "check the SHA (git log --oneline), or name its repository: --repo DIR",
    )


def _at(repo: Path) -> str:
    """The beginning of a git command to type, whatever the folder is called."""
    return f"git -C {shlex.quote(str(repo))}"


def _fetch(repo: Path, remote: str, refspec: str, watch: Watch) -> Answer:
    """``git fetch``; again while another process is updating the same ref."""
    for _ in range(_FETCH_ATTEMPTS):
        try:
            fetched = git(
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
                cwd=repo,
                deadline_s=FETCH_DEADLINE_S,
                stopped=watch.stopped,
            )
        except OverdeckError:
            watch.check()  # a fetch that was called off looks like one that took too long
            raise
        if fetched.code == 0 or "cannot lock ref" not in fetched.stderr:
            break
    return fetched


def _git(repo: Path, *args: str) -> Answer:
    return git(*args, cwd=repo)


def _check(done: Answer) -> GitCheck:
    return GitCheck(list(done.argv), done.code)
