"""Whose settings an entry is written into: the user's own, a project's, or a user's own in one project."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from overdeck.errors import OverdeckError, usage
from overdeck.git import git
from overdeck.paths import Places
from overdeck.wiring.reading import real
from overdeck.wiring.sources import PROJECT_FILES, project_of, user_settings

Scope = Literal["user", "project", "local"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


def here() -> Path:
    """The folder we are in; the root where it has been deleted: there is no project then, and all else works."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def settings_file(places: Places, scope: Scope, folder: Path) -> Path:
    """The absolute path of the settings file of ``scope``, as Claude Code run in ``folder``'s project reads it.

    Raises OverdeckError (usage) where ``folder`` is in no project, or the project's file is the user's own.
    """
    own = user_settings(places).absolute()
    if scope == "user":
        return own
    folder = folder.absolute()
    project = project_of(folder, places.home.absolute())
    if project is None:
        raise usage(
            f"{folder} is in no project: no folder from here upwards has a .claude or a .git",
            hint=f"cd to the project, or there: mkdir .claude (then overdeck install --scope {scope})",
            code="no-project",
        )
    file = project / ".claude" / PROJECT_FILES[scope]
    if real(file) == real(own):
        raise usage(
            f"the {scope} settings of {project} are the user's own, {own}",
            hint="overdeck install --scope user",
            code="no-project",
        )
    return file


def neighbours(places: Places, folder: Path) -> dict[Scope, Path]:
    """The settings files that a client run in ``folder`` reads together, by scope; only the user's in no project."""
    project = project_of(folder.absolute(), places.home.absolute())
    scopes: tuple[Scope, ...] = SCOPES if project is not None else ("user",)
    found: dict[Scope, Path] = {}
    for scope in scopes:
        file = (
            user_settings(places).absolute()
            if scope == "user" or project is None
            else project / ".claude" / PROJECT_FILES[scope]
        )
        if real(file) not in {real(other) for other in found.values()}:
            found[scope] = file
    return found


def ignored_by_git(file: Path) -> bool | None:
    """Whether git leaves ``file`` out of commits; None where there is no work tree or no git to ask."""
    folder = next(up for up in file.parents if up.is_dir())
    try:
        said = git("check-ignore", "-q", str(file), cwd=folder)
    except OverdeckError:  # a missing git is no reason to refuse
        return None
    return {0: True, 1: False}.get(said.code)


def scope_warnings(scope: Scope, file: Path, program: str) -> Iterator[str]:
    """What must be known of entries outside the user's own settings; ``program`` is what they start."""
    if scope == "project":
        yield (
            f"the entries in {file} start {program}, a path of this machine and user: whoever gets the file by git "
            "has a hook that does not start, which the client passes over; for yourself alone: --scope local"
        )
    if scope == "local" and ignored_by_git(file) is False:
        yield (
            f"git does not ignore {file}: add .claude/{file.name} to .git/info/exclude, or a commit carries paths of "
            "this machine to others"
        )
