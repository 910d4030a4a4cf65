"""Holds ``git commit`` and ``git merge --continue`` until the checks have passed on what the work tree holds now.

The command is read as overdeck.dispatch.kit.gitcommand says, which also says what it does not see: ``overdeck git-hook
install`` is the enforcement, this is the early word. ``overdeck hooks off`` does not lift it.
"""

import time

from overdeck.dispatch.kit.asking import is_off
from overdeck.dispatch.kit.gitcommand import committing
from overdeck.dispatch.kit.passed import held
from overdeck.dispatch.kit.worktree import GitFailed, top_of
from overdeck.dispatch.module import Call, Verdict, deny

SECONDS = 5.0
"""For all that is asked of git; past it the commit is held, and says so, before the deadline would."""


def evaluate(call: Call) -> Verdict | None:
    """Deny a commit in a work tree that has changed since its checks passed, or has never passed."""
    only, checks = call.config["only"], call.config["checks"]
    for name, paths in (("only", only), ("checks", checks)):
        if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
            raise ValueError(f"[modules.commit-gate] {name} must be a list of strings")
    end = time.monotonic() + SECONDS
    seen = set()
    for folder, options in committing(str(call.input.get("command", "")), call.cwd):
        try:
            top = top_of(folder, end, options)
            if not top or top in seen or not _is_below(top, only):
                continue
            seen.add(top)
            why = held(call.state, top, end)
        except GitFailed as error:
            return deny(
                f"whether the checks have passed cannot be told: {error}. See: overdeck commit-gate status"
            )
        if why:
            return deny(_reason(call, why, checks))
    return None


def _reason(call: Call, why: str, checks: list[str]) -> str:
    asked = (
        f"overdeck commit-gate pass --yes (runs {'; '.join(checks)})" if checks else "overdeck commit-gate pass"
    )
    silenced = (
        " (overdeck hooks off silences questions in this session; it lifts no gate.)"
        if is_off(call.overdeck_state, call.session)
        else ""
    )
    return (
        f"{why}. Run the checks and mend what they find; then type there, in a call of its own before the commit: "
        f"{asked}.{silenced}"
    )


def _is_below(top: str, only: list[str]) -> bool:
    return not only or any(top == path.rstrip("/") or top.startswith(path.rstrip("/") + "/") for path in only)
