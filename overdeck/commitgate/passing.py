"""``overdeck commit-gate pass | status``: run a work tree's checks, remember on what they passed, say where it is."""

import os
import shlex
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from overdeck.authoring.inventory import find
from overdeck.dispatch.kit import passed, worktree
from overdeck.dispatch.kit.worktree import GitFailed, Snapshots
from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.paths import Places
from overdeck.process import NotCompleted, run

GIT_S = 60.0
"""For one question to git from the command line; a hook has less."""
SHOWN = 2000
"""Letters of a failed check's output that are shown: its end, where programs say what is wrong."""
GATE = "commit-gate"


class Setting(NamedTuple):
    """What the gate of this user is told for one work tree."""

    top: str
    state: str
    checks: list[str]
    check_seconds: int


class Standing(NamedTuple):
    """Where a work tree stands. ``held`` is why a commit has to wait, empty where it need not."""

    top: str
    held: str
    at: str
    checks: list[str]
    on: bool


def setting(places: Places, folder: Path) -> Setting:
    """The gate's configuration, and the work tree around ``folder``. Raises OverdeckError (usage) without one."""
    config = find(places, GATE).manifest.config
    checks, seconds = config["checks"], config["check_seconds"]
    if not isinstance(checks, list) or not all(isinstance(check, str) and check.strip() for check in checks):
        raise usage(
            f"[modules.{GATE}] checks in {places.config_file} must be a list of commands",
            hint='checks = ["./dev test"]',
        )
    if not isinstance(seconds, int):
        raise usage(f"[modules.{GATE}] check_seconds must be a number", hint="check_seconds = 1800")
    state = places.state / "modules" / GATE
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    top = _asked(lambda: worktree.top_of(str(folder), time.monotonic() + GIT_S))
    if not top:
        raise usage(f"{folder} is in no git work tree", code="no-repository", hint="cd to a work tree, then again")
    return Setting(top, str(state), checks, seconds)


def standing(places: Places, folder: Path) -> Standing:
    """Where the work tree around ``folder`` stands. Raises OverdeckError."""
    told = setting(places, folder)
    held = _asked(lambda: passed.held(told.state, told.top, time.monotonic() + GIT_S))
    last = passed.recall(told.state, told.top)
    return Standing(
        told.top, held, last.at if last else "", last.checks if last else told.checks, find(places, GATE).on
    )


def half_staged(top: str, environ: Mapping[str, str]) -> list[str]:
    """Paths whose staged content is not what the work tree holds, and so not what was checked.

    ``environ`` is that of git's hook: it names the index that is about to be committed.
    """
    index = {name: environ[name] for name in ("GIT_INDEX_FILE",) if name in environ}
    if "GIT_INDEX_FILE" in index:
        index["GIT_INDEX_FILE"] = str(Path(top, index["GIT_INDEX_FILE"]))

    def listed(*arguments: str) -> set[str]:
        said = _asked(lambda: worktree.run([*arguments], top, time.monotonic() + GIT_S, index))
        return {path for path in said.split("\0") if path}

    return sorted(listed("diff", "--cached", "--name-only", "-z") & listed("diff-files", "--name-only", "-z"))


def pass_checks(
    places: Places,
    folder: Path,
    *,
    yes: bool,
    say: Callable[[str], None],
) -> Standing:
    """Run the configured checks and remember what the work tree held while they passed.

    Without checks the caller's word is the pass. Raises OverdeckError: usage without ``yes`` where there are checks
    (they are listed), rejected where one fails or the work tree changed meanwhile.
    """
    told = setting(places, folder)
    if told.checks and not yes:
        raise usage(
            f"this runs, in {told.top}: {'; '.join(told.checks)}",
            code="needs-yes",
            hint="overdeck commit-gate pass --yes",
        )
    with Snapshots(told.top, told.state, time.monotonic() + told.check_seconds + GIT_S) as snapshots:
        before = _asked(snapshots.take)
        if told.checks:
            _run(told, say)
            after = _asked(snapshots.take)
            if after != before:
                paths = snapshots.differences(before, after)
                raise _rejected(
                    f"the work tree {told.top} changed while its checks ran: {_some(paths)}",
                    "have git ignore what the checks write, or commit after they wrote it and run them again",
                    code="tree-changed",
                )
    at = datetime.now(UTC).isoformat(timespec="seconds")
    passed.remember(told.state, told.top, passed.Pass(before, at, told.checks))
    return Standing(told.top, "", at, told.checks, find(places, GATE).on)


def _run(told: Setting, say: Callable[[str], None]) -> None:
    end = time.monotonic() + told.check_seconds
    for check in told.checks:
        say(f"running: {check}")
        try:
            argv = shlex.split(check)
        except ValueError as error:
            raise usage(f"the check {check!r} cannot be read: {error}", hint=f"[modules.{GATE}] checks") from None
        ran = run(argv, env=dict(os.environ), cwd=told.top, deadline_s=max(0.1, end - time.monotonic()))
        if isinstance(ran, NotCompleted):
            raise _rejected(f"the check {check!r} in {told.top} {ran.why}", f"(cd {told.top} && {check})")
        if ran.code:
            output = ran.output
            cut = f"(only the last {SHOWN} letters of {len(output)})\n" if len(output) > SHOWN else ""
            raise _rejected(
                f"the check {check!r} in {told.top} failed with exit {ran.code}:\n{cut}{output[-SHOWN:].rstrip()}",
                f"mend it, then: (cd {told.top} && {check})",
            )


def _asked(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except GitFailed as error:
        raise OverdeckError(
            f"git could not answer: {error}",
            code="git-failed",
            exit_code=ExitCode.UNVERIFIABLE,
            hint="run it by hand to see why",
        ) from None


def _rejected(message: str, hint: str, *, code: str = "check-failed") -> OverdeckError:
    return OverdeckError(message, code=code, exit_code=ExitCode.REJECTED, hint=hint)


def _some(paths: list[str], most: int = 5) -> str:
    more = len(paths) - most
    return ", ".join(paths[:most]) + (f" and {more} more" if more > 0 else "")
