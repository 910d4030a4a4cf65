"""Opening the files a client looks for: those that exist are read, and one that cannot be read says so."""

import errno
from collections.abc import Iterable, Iterator
from pathlib import Path

from overdeck.files import read_regular
from overdeck.git import work_trees
from overdeck.wiring.clients import named
from overdeck.wiring.parsing import Problem
from overdeck.wiring.reading import present
from overdeck.wiring.settings import Settings


def opened(client: str, path: Path, *, scope: str, plugin_root: Path | None = None) -> Iterator[Settings]:
    """The file at ``path``, read; nothing where nothing is there. Never raises and never waits.

    A file that cannot be read has no handlers and one problem, which drops nothing but where Claude Code was seen to
    drop a file for its size: what a client makes of it is not known.
    """
    if not present(path):
        return
    try:
        raw = read_regular(path)
    except FileNotFoundError:
        yield unread(client, path, "it is a link to nothing", scope=scope, plugin_root=plugin_root)
    except OSError as error:
        drops = error.errno == errno.EFBIG and client == "claude"
        yield unread(client, path, str(error.strerror), scope=scope, plugin_root=plugin_root, drops=drops)
    else:
        yield named(client).parse(raw, path, scope=scope, plugin_root=plugin_root)


def unread(
    client: str, path: Path, why: str, *, scope: str, plugin_root: Path | None = None, drops: bool = False
) -> Settings:
    """A file of which only its place is known."""
    problem = Problem(f"it was not read: {why}", "", f"ls -l {path}", drops=drops)
    return Settings(path, {}, (), (problem,), plugin_root, client, scope)


def distinct(paths: Iterable[Path]) -> list[Path]:
    """The paths made absolute, each once, in order."""
    return list(dict.fromkeys(path.absolute() for path in paths))


def upwards(project: Path) -> list[Path]:
    """The folders from the repository's root, where ``.git`` is, down to ``project``; only ``project`` outside one."""
    project = project.absolute()
    top = next(work_trees(project), project)
    return [folder for folder in (*reversed(project.parents), project) if folder.is_relative_to(top)]
