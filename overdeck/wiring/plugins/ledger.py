"""What the client's files say of plugins: installed where, switched on by whom, blocked.

Measured with Claude Code 2.1.197: a plugin runs where ``enabledPlugins`` of a settings file says true (a list of
versions does not switch it on), and a project's word comes before the user's. What ``installed_plugins.json`` lists
and no settings file names does not run. ``plugins/blocklist.json`` is not read.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck.errors import not_found, usage
from overdeck.paths import Places
from overdeck.tomlfile import read_toml
from overdeck.wiring.reading import missing
from overdeck.wiring.rewrite import read
from overdeck.wiring.scope import neighbours
from overdeck.wiring.sources import user_settings

SWITCHES = "enabledPlugins"


@dataclass(frozen=True)
class Plugin:
    """One plugin by its id, ``NAME@MARKETPLACE``.

    ``on_in`` and ``off_in`` are the settings files that switch it on or off; ``roots`` the folders it is installed
    in, ``versions`` theirs.
    """

    id: str
    roots: tuple[Path, ...] = ()
    versions: tuple[str, ...] = ()
    on_in: tuple[Path, ...] = ()
    off_in: tuple[Path, ...] = ()
    blocked: bool = False

    @property
    def state(self) -> str:
        """``on`` where any settings file switches it on, else ``blocked``, ``off``, or ``unset``: no file says."""
        if self.on_in:
            return "on"
        return "blocked" if self.blocked else "off" if self.off_in else "unset"


@dataclass(frozen=True)
class Ledger:
    """Where the client keeps what it knows of plugins, for one user."""

    places: Places
    folder: Path
    """Where the command runs: the settings of its project count."""

    @property
    def installed_file(self) -> Path:
        return self.places.claude_dir / "plugins" / "installed_plugins.json"

    @property
    def blocklist(self) -> Path:
        return self.places.claude_dir / "plugins" / "blocklist.json"

    @property
    def cache(self) -> Path:
        return self.places.claude_dir / "plugins" / "cache"

    @property
    def state_files(self) -> list[Path]:
        """``.claude.json``: beside the client's folder, or in it where ``CLAUDE_CONFIG_DIR`` moved it."""
        paths = (self.places.home / ".claude.json", self.places.claude_dir / ".claude.json")
        return [path.absolute() for path in paths if path.exists()]

    def templates(self) -> list[Path]:
        """``[plugins] templates`` of the config: settings that other machines are set up from. Raises OverdeckError."""
        config = self.places.config_file
        try:
            table = read_toml(config).get("plugins", {})
        except FileNotFoundError:
            return []
        named = table.get("templates", []) if isinstance(table, dict) else None
        if not isinstance(named, list) or not all(isinstance(name, str) and name for name in named):
            raise usage(
                f"{config}: [plugins] templates must be a list of paths",
                hint='write: [plugins] and templates = ["~/dotfiles/claude/settings.json"]',
                code="bad-config",
            )
        home = self.places.home
        paths = [home / name.removeprefix("~/") if name.startswith("~/") else home / name for name in named]
        for path in paths:
            if not path.exists():
                raise not_found(
                    f"the settings template {path} is not there",
                    hint=f"mend [plugins] templates in {config}",
                    code="no-template",
                )
        return paths

    def settings_files(self) -> list[Path]:
        """Every settings file that may switch plugins: the user's, those of all projects that the client knows, and
        the templates; those that exist, each once.
        """
        here = list(neighbours(self.places, self.folder).values())
        known = [
            project / ".claude" / name
            for project in self._projects()
            for name in ("settings.json", "settings.local.json")
        ]
        first = user_settings(self.places).absolute()
        own = [first, first.with_name("settings.local.json")]
        found: dict[Path, Path] = {}
        for path in [*own, *here, *known, *self.templates()]:
            if not missing(path):  # a loop of links is no file
                found.setdefault(path.resolve(), path)
        return list(found.values())

    def plugins(self) -> list[Plugin]:
        """Every plugin that any of the files names, by id."""
        installed = self._installed()
        blocked = set(_blocked(_document(self.blocklist)))
        on: dict[str, list[Path]] = {}
        off: dict[str, list[Path]] = {}
        for file in self.settings_files():
            switches = _document(file).get(SWITCHES)
            for name, value in switches.items() if isinstance(switches, dict) else ():
                (on if value is True else off).setdefault(name, []).append(file)
        return [
            Plugin(
                name,
                tuple(root for root, _ in installed.get(name, [])),
                tuple(version for _, version in installed.get(name, []) if version),
                tuple(on.get(name, [])),
                tuple(off.get(name, [])),
                name in blocked,
            )
            for name in sorted({*installed, *on, *off, *blocked})
        ]

    def named(self, name: str) -> Plugin:
        """The plugin with this id, or of this name where only one marketplace has it; raises OverdeckError (3)."""
        plugins = self.plugins()
        found = [plugin for plugin in plugins if name in (plugin.id, plugin.id.partition("@")[0])]
        if len(found) == 1:
            return found[0]
        candidates = [plugin.id for plugin in found or plugins]
        if found:
            message, code = f"{name} is {len(found)} plugins: {', '.join(candidates)}", "ambiguous-plugin"
        else:
            message, code = f"there is no plugin {name!r} in any of the client's files", "no-such-plugin"
        raise not_found(message, hint="overdeck plugins list", code=code, data={"candidates": candidates})

    def _installed(self) -> dict[str, list[tuple[Path, str]]]:
        """Plugin id → (folder, version) of each installation: one object in the file's first form, else a list."""
        plugins = _document(self.installed_file).get("plugins")
        found: dict[str, list[tuple[Path, str]]] = {}
        for name, entry in plugins.items() if isinstance(plugins, dict) else ():
            found[name] = []
            for one in entry if isinstance(entry, list) else [entry]:
                if isinstance(one, dict) and isinstance(one.get("installPath"), str) and one["installPath"]:
                    version = one.get("version")
                    found[name].append((Path(one["installPath"]), version if isinstance(version, str) else ""))
        return found

    def _projects(self) -> Iterator[Path]:
        """The projects that ``.claude.json`` and ``installed_plugins.json`` name, absolute paths only."""
        for file in self.state_files:
            projects = _document(file).get("projects")
            yield from (
                Path(name) for name in projects or () if isinstance(projects, dict) and name.startswith("/")
            )
        plugins = _document(self.installed_file).get("plugins")
        for entry in plugins.values() if isinstance(plugins, dict) else ():
            for one in entry if isinstance(entry, list) else [entry]:
                path = one.get("projectPath") if isinstance(one, dict) else None
                if isinstance(path, str) and path.startswith("/"):
                    yield Path(path)


def _document(file: Path) -> dict[str, Any]:
    """The object in a JSON file; empty where there is none, or it cannot be read: removal says so, a list need not."""
    try:
        data = json.loads((read(file) or b"{}").decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _blocked(data: dict[str, Any]) -> Iterator[str]:
    entries = data.get("plugins")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("plugin"), str):
            yield entry["plugin"]
