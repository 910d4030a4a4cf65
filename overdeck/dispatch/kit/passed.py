"""The pass of a work tree: what it held when its checks passed, and why a commit has to wait without one.

Written by ``overdeck commit-gate pass``, read by the module and by git's own hook. One file a work tree, by rename: a
reader sees the old pass or the new one. Nothing that a session switches off is looked at here.
"""

from __future__ import annotations

import posix

from overdeck.dispatch import jsontext
from overdeck.dispatch.kit.worktree import Snapshots
from overdeck.dispatch.plan import PlanError, digest, read_plan
from overdeck.dispatch.writing import replace


class Pass:
    """``tree`` is what the work tree held, ``at`` when (UTC, ISO-8601), ``checks`` the commands that passed.

    No checks: it was passed by the word of whoever typed it.
    """

    __slots__ = ("at", "checks", "tree")

    def __init__(self, tree: str, at: str, checks: list[str]) -> None:
        self.tree = tree
        self.at = at
        self.checks = checks


def remember(folder: str, top: str, passed: Pass) -> str:
    """Keep the pass of the work tree ``top`` in the gate's state ``folder``; returns the file. Raises OSError."""
    path = _path(folder, top)
    try:
        posix.mkdir(f"{folder}/passes", 0o700)
    except FileExistsError:
        pass
    record = {"top": top, "tree": passed.tree, "at": passed.at, "checks": list(passed.checks)}
    replace(path, jsontext.dumps(record).encode())
    return path


def recall(folder: str, top: str) -> Pass | None:
    """The pass of a work tree; None where there is none, or none that can be believed."""
    try:
        record = jsontext.loads(read_plan(_path(folder, top)).decode())
        if record["top"] != top or not all(isinstance(record[key], str) for key in ("tree", "at")):
            return None
        return Pass(record["tree"], record["at"], [str(check) for check in record["checks"]])
    except (PlanError, ValueError, KeyError, TypeError):
        return None


def held(folder: str, top: str, end: float) -> str:
    """Why a commit in the work tree ``top`` has to wait, as a sentence; empty where what is there has passed.

    Raises GitFailed where that cannot be told by the monotonic time ``end``.
    """
    passed = recall(folder, top)
    if passed is None:
        return f"the checks of {top} have not passed yet"
    with Snapshots(top, folder, end) as snapshots:
        if snapshots.take() == passed.tree:
            return ""
    return f"{top} has changed since its checks passed ({passed.at})"


def _path(folder: str, top: str) -> str:
    return f"{folder}/passes/{digest(top.encode('utf-8', 'surrogateescape'))}.json"
