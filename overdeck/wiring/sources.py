"""Which files Claude Code reads its hooks from, for one user in one project."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from overdeck.paths import Places
from overdeck.wiring.settings import Settings, read_settings


def user_settings(places: Places) -> Path:
    """The user's own settings file, the one that ``install`` writes to."""
    return places.claude_dir / "settings.json"


def usual_paths(places: Places, project: Path) -> list[Path]:
    """Where user, project and local settings are looked for; each path once."""
    paths = (
        user_settings(places),
        project / ".claude" / "settings.json",
        project / ".claude" / "settings.local.json",
    )
    return list(dict.fromkeys(path.absolute() for path in paths))


def claude_files(places: Places, project: Path) -> list[Settings]:
    """User, project and local settings, then the enabled plugins' hooks.json: those that exist, read."""
    found = [read_settings(path) for path in usual_paths(places, project) if path.exists()]
    return found + list(_plugins(places, found))


def _plugins(places: Places, settings: Sequence[Settings]) -> Iterator[Settings]:
    enabled: dict[str, bool] = {}
    for file in settings:
        switches = file.data.get("enabledPlugins")
        if isinstance(switches, dict) and not file.dropped:
            enabled.update({name: on is True for name, on in switches.items()})
    installed = _installed(places.claude_dir / "plugins" / "installed_plugins.json")
    for name in (name for name, on in enabled.items() if on):
        for root in installed.get(name, []):
            hooks = root / "hooks" / "hooks.json"
            if hooks.is_file():
                yield read_settings(hooks, plugin_root=root)


def _installed(path: Path) -> dict[str, list[Path]]:
    """Plugin name → its folders. The file's first form has one object a plugin, its second a list of them."""
    try:
        plugins = json.loads(path.read_bytes())["plugins"]
        return {name: list(dict.fromkeys(_roots(entry))) for name, entry in plugins.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # the client's own bookkeeping, not a documented interface: nothing to be said about it


def _roots(entry: Any) -> Iterator[Path]:
    for one in entry if isinstance(entry, list) else [entry]:
        if isinstance(one, dict) and isinstance(one.get("installPath"), str):
            yield Path(one["installPath"])
