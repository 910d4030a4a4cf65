"""The plugins of tests/wiring/plugins, what their home holds, and whether one of them is gone from it."""

import json
from pathlib import Path
from typing import Any

from homes import Home

from overdeck.wiring.plugins import stub

PLUGIN, OTHER = "noisy@market", "quiet@market"


def tree(root: Path, *skip: str) -> dict[str, bytes | str]:
    """Every file and link below ``root`` with its content, but for those under a folder called one of ``skip``."""
    return {
        str(path.relative_to(root)): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in sorted(root.rglob("*"))
        if (path.is_symlink() or path.is_file()) and not set(skip) & set(path.parts)
    }


def read(home: Home, name: str) -> Any:
    """The data of a JSON file of this home."""
    return json.loads((home.root / name).read_bytes())


def removed(home: Home) -> bool:
    """Whether every place is without the plugin, and the other plugin is as it was."""
    settings = [
        read(home, name)["enabledPlugins"]
        for name in (
            ".claude/settings.json", "one/.claude/settings.json", "one/.claude/settings.local.json",
            "two/.claude/settings.json", "dotfiles/seat.json",
        )
    ]  # fmt: skip
    known = read(home, ".claude.json")
    one = known["projects"][str(home.root / "one")]
    return (
        settings == [{OTHER: True}, {OTHER: True}, {OTHER: True}, {}, {}]
        and PLUGIN not in known["pluginUsage"]
        and one["enabledPlugins"] == {}
        and one["seenPlugins"] == [OTHER]
        and list(read(home, ".claude/plugins/installed_plugins.json")["plugins"]) == [OTHER]
        and [entry["plugin"] for entry in read(home, ".claude/plugins/blocklist.json")["plugins"]] == [PLUGIN]
        and all(stub.is_stub(home.root / f".claude/plugins/cache/market/noisy/{v}") for v in ("1.0.0", "0.9.0"))
    )
