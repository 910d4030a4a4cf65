"""``overdeck git-hook install | uninstall``: git's own hook, which holds every commit, whoever types it.

It goes where git looks (``core.hooksPath`` or the repository's ``hooks`` folder), so that it cannot lie there unread. A
hook that was there before is kept beside it, is run first, and is back byte for byte after ``uninstall``.
"""

import os
import shlex
import stat
from pathlib import Path
from typing import NamedTuple

from overdeck import git
from overdeck.errors import usage
from overdeck.files import read_regular, write_atomically
from overdeck.process import argv_of

NAME = "pre-commit"
KEPT = "pre-commit.before-overdeck"
_MARK = "# overdeck git-hook"

_SCRIPT = """#!/bin/sh
{mark}: holds a commit until the checks have passed on what is there.
# To take it out: overdeck git-hook uninstall
here=${{0%/*}}
if [ -x "$here/{kept}" ]; then
    "$here/{kept}" "$@" || exit
fi
if [ ! -x {program} ]; then
    echo 'error: the commit gate cannot run: '{program}' is gone' >&2
    echo '  next: overdeck git-hook install (once it is installed again), or remove '"$0" >&2
    exit 1
fi
exec {command} commit-gate status --require --staged
"""


class Hook(NamedTuple):
    """What was done. ``kept`` is the hook that was there before, None where there was none."""

    path: Path
    changed: bool
    kept: Path | None


def install(folder: Path) -> Hook:
    """Put the hook into the repository around ``folder``; raises OverdeckError (usage) where that cannot be."""
    hooks = hooks_folder(folder)
    path, kept = hooks / NAME, hooks / KEPT
    content = _script()
    there = _content(path)
    if there is not None and _MARK not in there.decode("utf-8", "replace"):
        if kept.exists():
            raise usage(
                f"{path} is not ours, and {kept} is there already: one of the two would be lost",
                code="two-hooks",
                hint=f"ls -l {hooks}",
            )
        path.rename(kept)
    if there != content:
        write_atomically(path, content, mode=0o755)
    return Hook(path, there != content, kept if kept.exists() else None)


def uninstall(folder: Path) -> Hook:
    """Take the hook out again, and put back what was there before; nothing where it is not ours."""
    hooks = hooks_folder(folder)
    path, kept = hooks / NAME, hooks / KEPT
    there = _content(path)
    if there is None or _MARK not in there.decode("utf-8", "replace"):
        return Hook(path, False, kept if kept.exists() else None)
    if kept.exists():
        kept.replace(path)
        return Hook(path, True, path)
    path.unlink()
    return Hook(path, True, None)


def hooks_folder(folder: Path) -> Path:
    """Where git looks for the hooks of the repository around ``folder``. Raises OverdeckError (usage)."""
    top = git.top(folder, hint="cd to a git work tree, then the same command again")
    said = git.git("config", "--show-scope", "--null", "--get-all", "core.hooksPath", cwd=top).stdout.split("\0")
    # What overdeck itself passes to git (scope "command") is no setting of the repository.
    set_to = [(scope, value) for scope, value in zip(said[::2], said[1::2], strict=False) if scope != "command"]
    if not set_to:
        common = git.git("rev-parse", "--git-common-dir", cwd=top).stdout.removesuffix("\n")
        return (top / common).resolve() / "hooks"
    scope, value = set_to[-1]
    if scope not in ("local", "worktree"):
        raise usage(
            f"core.hooksPath is {value} by the {scope} configuration: a hook there would hold every repository",
            code="shared-hooks",
            hint="git config --local core.hooksPath .git/hooks, then the same command again",
        )
    return top / Path(value).expanduser()


def _script() -> bytes:
    command = argv_of("overdeck")
    return _SCRIPT.format(
        mark=_MARK, kept=KEPT, program=shlex.quote(command[0]), command=shlex.join(command)
    ).encode()


def _content(path: Path) -> bytes | None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        raise usage(f"{path} is a link: it is left alone", code="hook-is-a-link", hint=f"ls -l {path}")
    return read_regular(path)
