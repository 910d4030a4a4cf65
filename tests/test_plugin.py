"""The repository as a plugin: what its two files say is what the modules that ship need."""

import json
from pathlib import Path

from overdeck import __version__
from overdeck.authoring.fleet import joined_matcher
from overdeck.dispatch.manifest import read_manifest
from overdeck.wiring.settings import parse_settings

ROOT = Path(__file__).resolve().parent.parent
HOOKS = json.loads((ROOT / "hooks" / "hooks.json").read_text())["hooks"]


def test_the_plugin_is_of_this_version() -> None:
    assert json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())["version"] == __version__


def test_its_hooks_are_asked_at_every_event_of_the_modules_it_serves() -> None:
    wanted: dict[str, list[str]] = {}
    for folder in sorted(path.parent for path in (ROOT / "modules").glob("*/module.toml")):
        manifest = read_manifest(str(folder), user=False)
        # They act at every call: without the native front, which a plugin has not, each costs a start of Python.
        if manifest.pack in {"evidence", "ambient"}:
            assert manifest.cls not in {"gate", "rewriter"}
            continue
        for event, matcher in manifest.events.items():
            wanted.setdefault(event, []).append(matcher)
    said = {event: groups[0].get("matcher", "*") for event, groups in HOOKS.items()}
    names = {event: set(matcher.split("|")) for event, matcher in said.items()}
    assert names == {event: set(joined_matcher(matchers).split("|")) for event, matchers in wanted.items()}


def test_the_client_would_not_drop_the_file() -> None:
    path = ROOT / "hooks" / "hooks.json"
    assert parse_settings(path.read_bytes(), path, plugin_root=ROOT).problems == ()
