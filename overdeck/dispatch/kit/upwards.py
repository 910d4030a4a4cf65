"""The git work trees that a folder is in, by what lies on disk: no git is asked, which would be a process a call."""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PATH = 4096
"""Bytes of a path that can be one; a folder whose name is longer is none."""


def work_trees(folder: str) -> Iterator[str]:
    """The tops of the work trees around ``folder``, the innermost first: each folder upwards that holds a ``.git``.

    A folder or a file: that of a linked work tree is a file. Nothing for what is no absolute path.
    """
    if len(folder) > MAX_PATH or "\0" in folder or not folder.startswith("/"):
        return
    folder = folder.rstrip("/")
    while True:
        if is_there(f"{folder}/.git"):
            yield folder or "/"
        if not folder:
            return
        folder = folder.rpartition("/")[0]


def is_there(path: str) -> bool:
    """Whether ``path`` leads to anything, a link's target included; False for what no file can be called."""
    try:
        posix.stat(path)
    except (OSError, ValueError):
        return False
    return True
