"""A clean worktree of one commit that shares nothing with the repository but its objects.

Not ``git worktree add``: that writes into the user's ``.git``, and the checkout and every git command of the test would
obey its configuration: filters, hooks, ``core.fsmonitor``. Here the worktree is a repository of its own, with no hooks
and no configuration, that borrows the objects (``objects/info/alternates``).
"""

from pathlib import Path

from overdeck.git import Answer, git
from overdeck.incidents.commit import unverifiable

_DEADLINE_S = 300.0


def check_out(repo: Path, sha: str, tree: Path) -> None:
    """Make ``tree`` a worktree of the commit ``sha`` of ``repo``. Raises OverdeckError (unverifiable, 5)."""
    objects = git("rev-parse", "--git-path", "objects", cwd=repo).stdout.removesuffix("\n")
    form = git("rev-parse", "--show-object-format", cwd=repo).stdout.strip() or "sha1"
    tree.mkdir(parents=True)
    _here(tree, sha, "init", "--quiet", "--template=", f"--object-format={form}", "--initial-branch=none")
    alternates = tree / ".git" / "objects" / "info" / "alternates"
    alternates.parent.mkdir(exist_ok=True)
    alternates.write_text(f"{(repo / objects).resolve()}\n", encoding="utf-8", errors="surrogateescape")
    _here(tree, sha, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", sha)


def lay_over(tree: Path, sha: str, path: str) -> None:
    """Put the file ``path`` as the commit ``sha`` has it into the worktree ``tree``. git does it, which never writes
    through a link. Raises OverdeckError (unverifiable, 5)."""
    _here(tree, sha, "--literal-pathspecs", "checkout", "--quiet", sha, "--", path)


def _here(tree: Path, sha: str, *args: str) -> Answer:
    done = git(*args, cwd=tree, deadline_s=_DEADLINE_S, configured=False)
    if done.code != 0:
        raise unverifiable(
            f"commit {sha[:12]} could not be checked out: {done.complaint}",
            "checkout-failed",
            "check space and the repository (df; git fsck --connectivity-only), then the same command again",
        )
    return done
