"""Whose settings an entry is written into: the user's own, a project's, or a user's own in one project."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from overdeck.errors import OverdeckError, usage
from overdeck.git import git
from overdeck.paths import Places
from overdeck.wiring.reading import real
from overdeck.wiring.sources import project_of
from overdeck.wiring.target import TARGETS

Scope = Literal["user", "project", "local"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


def here() -> Path:
    """The folder we are in; the root where it has been deleted: there is no project then, and all else works."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def install_command(client: str, scope: str = "user") -> str:
    """The command that installs for this client and scope."""
    words = ["overdeck install"]
    words += [] if client == "claude" else [f"--client {client}"]
    return " ".join([*words, *([] if scope == "user" else [f"--scope {scope}"])])


def settings_file(places: Places, scope: Scope, folder: Path, client: str = "claude") -> Path:
    """The absolute path of the settings file of ``scope``, as the client run in ``folder``'s project reads it.

    Raises OverdeckError (usage) where ``folder`` is in no project, the project's file is the user's own, or the
    client has no such scope.
    """
    target = TARGETS[client]
    own = target.user_file(places)
    if scope not in target.files:
        raise usage(
            f"{target.title} has no {scope} settings",
            hint=f"choose from {', '.join(target.files)}: {install_command(client, 'project')}",
            code="no-scope",
        )
    if scope == "user":
        return own
    folder = folder.absolute()
    project = project_of(folder, places.home.absolute(), target.folder)
    if project is None:
        raise usage(
            f"{folder} is in no project: no folder from here upwards has a {target.folder} or a .git",
            hint=f"cd to the project, or there: mkdir {target.folder} (then {install_command(client, scope)})",
            code="no-project",
        )
    file = target.project_file(project, scope)
    if real(file) == real(own):
        raise usage(
            f"the {scope} settings of {project} are the user's own, {own}",
            hint=f"{install_command(client)} --scope user",
            code="no-project",
        )
    return file


def scope_of(file: Path, client: str, places: Places) -> str:
    """The scope that a client would read a file of this name and place in; empty where nothing says."""
    target, path = TARGETS[client], file.absolute()
    if path in (places.folders.gemini_system, places.folders.gemini_defaults) or _is_managed(path, client):
        return "managed"
    if real(path) == real(target.user_file(places)):
        return "user"
    for scope, name in target.files.items():
        inside = target.project_file(Path("/"), scope).parent.parts[1:]
        if scope != "user" and path.name == name and path.parent.parts[-len(inside) :] == inside:
            return scope
    return ""


def _is_managed(path: Path, client: str) -> bool:
    if client == "claude":
        return path.name == "managed-settings.json" or path.parent.name == "managed-settings.d"
    return path.parent in (Path("/etc/codex"), Path("/etc/gemini-cli"))


def neighbours(places: Places, folder: Path, client: str = "claude") -> dict[Scope, Path]:
    """The settings files that a client run in ``folder`` reads together, by scope; only the user's in no project."""
    target = TARGETS[client]
    project = project_of(folder.absolute(), places.home.absolute(), target.folder)
    scopes = [scope for scope in SCOPES if scope in target.files and (project is not None or scope == "user")]
    found: dict[Scope, Path] = {}
    for scope in scopes:
        file = (
            target.user_file(places) if scope == "user" or project is None else target.project_file(project, scope)
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


def scope_warnings(scope: Scope, file: Path, program: str, client: str = "claude") -> Iterator[str]:
    """What must be known of entries outside the user's own settings; ``program`` is what they start."""
    if scope == "project":
        # to Gemini CLI a hook that does not start is a deny (measured: exit 127 with a word on stderr)
        then = "which denies every call" if client == "gemini" else "which the client passes over"
        alone = "local" if "local" in TARGETS[client].files else "user"
        yield (
            f"the entries in {file} start {program}, a path of this machine and user: whoever gets the file by git "
            f"has a hook that does not start, {then}; for yourself alone: --scope {alone}"
        )
    if scope == "local" and ignored_by_git(file) is False:
        yield (
            f"git does not ignore {file}: add .claude/{file.name} to .git/info/exclude, or a commit carries paths of "
            "this machine to others"
        )
