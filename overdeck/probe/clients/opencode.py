"""OpenCode, headless: ``opencode run`` with the mock as an Anthropic provider (FACTS 8)."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overdeck.errors import not_found
from overdeck.probe.clients import Rare, Stage
from overdeck.probe.mock import anthropic
from overdeck.probe.mock.script import Call
from overdeck.probe.mock.wire import Wire
from overdeck.probe.room import Room

name = "opencode"
program = "opencode"
wire: Wire = anthropic
guards = False
hands_on_unknown_keys = True
rare: Mapping[str, Rare] = {}
attended = ()

_PLUGIN_PACKAGE = "node_modules/@opencode-ai/plugin"


def environ(room: Room, url: str) -> dict[str, str]:
    return {
        "OPENCODE_CONFIG": str(_config(room)),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    }


def settings_file(home: Path) -> Path:
    return home / ".config" / "opencode" / "plugin" / "overdeck.js"


def lay_out(stage: Stage) -> None:
    """A config of its own, and the package that it would else fetch: without it and a network it hangs (FACTS 8)."""
    model = {"name": "x", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
    options = {"baseURL": f"{stage.url}/v1", "apiKey": "dummy"}
    provider = {"npm": "@ai-sdk/anthropic", "name": "mock", "options": options, "models": {"claude-x": model}}
    _config(stage.room).write_text(
        json.dumps(
            {
                "$schema": "https://opencode.ai/config.json",
                "autoupdate": False,
                "share": "disabled",
                "model": "mock/claude-x",
                "small_model": "mock/claude-x",
                "provider": {"mock": provider},
                "permission": {"edit": "allow", "bash": "allow", "webfetch": "allow"},
            }
        )
    )
    own = stage.room.home / ".config" / "opencode"
    own.mkdir(parents=True, exist_ok=True)
    if not (own / "node_modules").exists():
        source = _packages(stage)
        (own / "node_modules").symlink_to(source / "node_modules")
        for file in ("package.json", "package-lock.json"):
            if (source / file).exists():
                (own / file).write_bytes((source / file).read_bytes())


def _packages(stage: Stage) -> Path:
    """The folder with the plugin package: beside the program, else in the user's own config. Raises OverdeckError."""
    folders = [*Path(os.path.realpath(stage.found)).parents, Path(stage.user_home, ".config", "opencode")]
    found = next((folder for folder in folders if (folder / _PLUGIN_PACKAGE).is_dir()), None)
    if found is None:
        raise not_found(
            "opencode fetches @opencode-ai/plugin at its first start, and there is no network here",
            hint="start opencode once, so that it is in ~/.config/opencode, then: overdeck probe --client opencode",
            code="no-plugin-package",
        )
    return found


def _config(room: Room) -> Path:
    return room.root / "opencode.json"


def argv(found: str, room: Room, prompt: str) -> list[str]:
    return [found, "run", "--format", "json", "--print-logs", prompt]


def hook_name(tool: str) -> str:
    return tool


def shell(command: str) -> Call:
    return Call("bash", {"command": command, "description": "probe"})


def read(file: Path) -> Call:
    return Call("read", {"filePath": str(file)})


def write(file: Path, content: str) -> Call:
    return Call("write", {"filePath": str(file), "content": content})


def subagent(prompt: str, more: Mapping[str, Any]) -> Call:
    return Call("task", {"description": "canary", "prompt": prompt, "subagent_type": "general", **more})


def skill(name: str, home: Path) -> tuple[Call, Path]:
    return Call("skill", {"name": name}), home / ".config" / "opencode" / "skill" / name / "SKILL.md"


def session(id: str) -> tuple[str, ...]:
    return ()
