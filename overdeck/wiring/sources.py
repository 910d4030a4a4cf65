"""Which files every client reads its hooks from, for one user in one project."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from overdeck.paths import Places
from overdeck.wiring import clients
from overdeck.wiring.settings import Settings

PROJECT_FILES = {"project": "settings.json", "local": "settings.local.json"}
"""Scope → the name of Claude Code's settings file in a project's ``.claude``."""


def user_settings(places: Places) -> Path:
    """Claude Code's settings file of the user, the one that ``install`` writes to."""
    return places.claude_dir / "settings.json"


def project_of(folder: Path, home: Path, own: str = ".claude") -> Path | None:
    """The project around ``folder``: the nearest folder upwards that has a ``.claude`` or is a git work tree.

    The ``.claude`` of ``home`` is the user's own and makes no project. ``own`` is what another client calls it.
    """
    for up in (folder, *folder.parents):
        if (up / ".git").exists() or ((up / own).is_dir() and up != home):
            return up
    return None


def unread_above(folder: Path, home: Path) -> list[Path]:
    """The project's settings files that Claude Code does not read when it is started in ``folder``, a part of it.

    The client looks in the very folder it is started in and in none above (measured with 2.1.197).
    """
    project = project_of(folder, home)
    if project is None or project == folder:
        return []
    return [file for name in PROJECT_FILES.values() if (file := project / ".claude" / name).is_file()]


def all_files(
    places: Places,
    project: Path,
    clients_wanted: Collection[str] | None = None,
    *,
    named: Sequence[Path] = (),
    root: Path = Path("/"),
) -> list[Settings]:
    """Every file that a client would read hooks from, read, client by client, each in the order it merges them.

    ``clients_wanted`` are names of ``clients.NAMES``, all where None. ``named`` are files handed to Claude Code with
    ``--settings``. ``root`` is where the file system begins for what an administrator sets. Never raises for what
    stands at a path, and never waits: a file that cannot be read has a problem that says why.
    """
    found: list[Settings] = []
    for name in clients.NAMES:
        if clients_wanted is not None and name not in clients_wanted:
            continue
        if name == "claude":
            from overdeck.wiring.clients import claude

            found += claude.files(places, project, root=root, named=named)
        else:
            found += clients.named(name).files(places, project, root=root)
    return found


def silenced(files: Iterable[Settings]) -> dict[Path, str]:
    """The files that their client reads and starts no hook of, and why, in words that name the file to blame.

    Claude Code's ``disableAllHooks`` is one setting: the strongest scope's word counts, and only an administrator's
    word stops an administrator's hooks (measured).
    ``allowManagedHooksOnly`` and ``strictPluginOnlyCustomization`` count in managed settings alone: the first leaves
    the administrator's hooks, the second those of plugins as well.
    """
    files = [file for file in files if not file.dropped]
    silent: dict[Path, str] = {}
    for name in clients.NAMES:
        of_client = [file for file in files if file.client == name]
        if name == "claude":
            silent |= _silenced_by_claude(of_client)
        elif off := [file for file in of_client if file.disabled]:
            silent |= {file.path: f"{off[0].path} switches hooks off" for file in of_client}
    return silent


_SURFACES = {"skill": "skills", "agent": "agents", "": "hooks"}
"""Scope → what ``strictPluginOnlyCustomization`` calls it: settings' hooks by default."""

_STRENGTH = ("user", "project", "local", "", "managed")
"""Claude Code's scopes with settings, the weakest first; what ``--settings`` names stands above local."""


def _silenced_by_claude(files: Sequence[Settings]) -> dict[Path, str]:
    managed = [file for file in files if file.scope == "managed"]
    others = [file for file in files if file.scope != "managed"]
    silent: dict[Path, str] = {}
    for file in managed:
        if file.data.get("allowManagedHooksOnly") is True:
            silent |= {other.path: f"allowManagedHooksOnly in {file.path}" for other in others}
        surfaces = file.data.get("strictPluginOnlyCustomization")
        locked = surfaces if isinstance(surfaces, list) else list(_SURFACES.values()) if surfaces is True else []
        for other in others:
            if not other.plugin_root and _SURFACES.get(other.scope, "hooks") in locked:
                silent[other.path] = f"strictPluginOnlyCustomization in {file.path}"
    saying = [
        file for file in files if file.scope in _STRENGTH and isinstance(file.data.get("disableAllHooks"), bool)
    ]
    last = max(saying, key=lambda file: _STRENGTH.index(file.scope), default=None)
    if last is not None and last.disabled:
        reached = files if last.scope == "managed" else others
        silent |= {file.path: f"disableAllHooks in {last.path}" for file in reached}
    return silent
