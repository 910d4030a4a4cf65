"""How a log that is in a git work tree is committed; nobody commits it by itself."""

import shlex
from pathlib import Path

from overdeck.git import work_trees


def commit_command(path: Path) -> str:
    """What commits ``path`` (a folder or file of the log), where that is in a git work tree; else nothing: nobody else
    sees what was recorded before that."""
    top = next(work_trees(path.absolute().parent), None)
    if top is None:
        return ""
    git, where = f"git -C {shlex.quote(str(top))}", shlex.quote(str(path.absolute().relative_to(top)))
    return f"{git} add {where} && {git} commit -m incidents {where}"
