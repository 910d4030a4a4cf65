"""A log in a git work tree is to be committed: nobody else sees what was recorded before that."""

import shlex
from pathlib import Path

from overdeck.cli.output import Output


def remind(out: Output, log: Path) -> None:
    """Say how the log is committed, where ``log`` (a folder or file of it) is in a git work tree."""
    commit_line(out, "commit the log, too", log)


def commit_line(out: Output, why: str, path: Path) -> None:
    """The command that commits ``path``, where that is in a git work tree; else nothing."""
    top = next((folder for folder in path.absolute().parents if (folder / ".git").exists()), None)
    if top is not None:
        git, where = f"git -C {shlex.quote(str(top))}", shlex.quote(str(path.absolute().relative_to(top)))
        out.note(f"{why}: {git} add {where} && {git} commit -m incidents {where}")
