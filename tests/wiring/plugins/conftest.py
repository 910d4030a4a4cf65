"""A user with a plugin on in every place that a client keeps, and a plugin's folder with programs of all kinds."""

import json
from pathlib import Path

import pytest
from homes import Home
from pluginhome import OTHER, PLUGIN

from overdeck.paths import Places
from overdeck.wiring.plugins.ledger import Ledger

HOOKS = {
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [
                    {"type": "command", "command": "python3 ${CLAUDE_PLUGIN_ROOT}/hooks/check.py", "timeout": 5},
                    {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/guard", "args": [], "timeout": 5},
                ],
            }
        ],
        "Stop": [
            {"hooks": [{"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/hooks/end.sh", "timeout": 5}]}
        ],
    }
}


def write(path: Path, content: str | dict, *, runs: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2) + "\n")
    if runs:
        path.chmod(0o755)
    return path


def make_plugin(root: Path, *, hooks: dict | None = None) -> Path:
    """A plugin whose hooks all leave a mark, ``ran``, beside it when they are run."""
    mark = root.parent / "ran"
    write(root / ".claude-plugin" / "plugin.json", {"name": "noisy", "version": "1.0.0"})
    write(root / "hooks" / "hooks.json", HOOKS if hooks is None else hooks)
    write(root / "hooks" / "check.py", f"import sys\nopen({str(mark)!r}, 'w')\nsys.exit(2)\n")
    write(root / "hooks" / "end.sh", f"touch {mark}\nexit 2\n")
    write(root / "bin" / "guard", f"#!/bin/sh\ntouch {mark}\nexit 2\n", runs=True)
    write(root / "bin" / "late.js", "process.exit(2)\n")
    write(root / "README.md", "It never uses claude-opus-4.\n")
    return root


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """``noisy@market`` is on for the user, in two projects, and in a template; ``quiet@market`` beside it."""
    home = Home(tmp_path / "home")
    root = home.root
    cache = root / ".claude" / "plugins" / "cache" / "market"
    for version in ("1.0.0", "0.9.0"):
        make_plugin(cache / "noisy" / version)
    make_plugin(cache / "quiet" / "2.0.0")
    on = {PLUGIN: True, OTHER: True}
    newest = str(cache / "noisy" / "1.0.0")
    write(root / ".claude" / "settings.json", {"model": "opus", "enabledPlugins": on})
    write(root / "one" / ".claude" / "settings.json", {"enabledPlugins": {PLUGIN: ["1.0.0"], OTHER: True}})
    write(root / "one" / ".claude" / "settings.local.json", {"enabledPlugins": {OTHER: True, PLUGIN: True}})
    write(root / "two" / ".claude" / "settings.json", {"enabledPlugins": {PLUGIN: True}})
    write(root / "three" / ".claude" / "settings.json", "{ // broken, and says nothing of it\n}")
    write(root / "dotfiles" / "seat.json", '{"enabledPlugins":{"noisy@market":true}}')
    write(
        root / ".config" / "overdeck" / "config.toml",
        'packs = []\n[plugins]\ntemplates = ["~/dotfiles/seat.json"]\n',
    )
    write(
        root / ".claude.json",
        {
            "primaryApiKey": "sk-secret",
            "pluginUsage": {PLUGIN: {"count": 5}, OTHER: {"count": 1}},
            "projects": {
                str(root / "one"): {
                    "history": [PLUGIN],
                    "enabledPlugins": {PLUGIN: True},
                    "seenPlugins": [OTHER, PLUGIN],
                },
                str(root / "three"): {},
                "not a path": {},
            },
        },
    )
    write(
        root / ".claude" / "plugins" / "installed_plugins.json",
        {
            "version": 2,
            "plugins": {
                PLUGIN: [
                    {"scope": "user", "installPath": newest, "version": "1.0.0"},
                    {
                        "scope": "project",
                        "projectPath": str(root / "two"),
                        "installPath": newest,
                    },
                ],
                OTHER: [{"scope": "user", "installPath": str(cache / "quiet" / "2.0.0"), "version": "2.0.0"}],
            },
        },
    )
    return home


@pytest.fixture
def places(home: Home) -> Places:
    return Places.from_environment({"HOME": str(home.root)})


@pytest.fixture
def ledger(home: Home, places: Places) -> Ledger:
    return Ledger(places, home.root)


@pytest.fixture
def folder(home: Home) -> Path:
    """Where the plugin is installed."""
    return home.root / ".claude" / "plugins" / "cache" / "market" / "noisy" / "1.0.0"
