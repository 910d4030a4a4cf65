"""Gemini CLI, headless: ``gemini -p`` with a dummy key and the mock as its provider (FACTS 8)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overdeck.probe.clients import Rare, Stage
from overdeck.probe.mock import gemini
from overdeck.probe.mock.script import Call
from overdeck.probe.mock.wire import Wire
from overdeck.probe.room import Room

name = "gemini"
program = "gemini"
wire: Wire = gemini
guards = False
hands_on_unknown_keys = True
rare: Mapping[str, Rare] = {}
attended = ("Notification",)

_NEEDED: dict[str, Any] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "model": {"name": "gemini-2.5-pro"},
}


def environ(room: Room, url: str) -> dict[str, str]:
    return {
        "GEMINI_API_KEY": "dummy",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def settings_file(home: Path) -> Path:
    return home / ".gemini" / "settings.json"


def lay_out(stage: Stage) -> None:
    """Beside the hooks in its settings what it needs to start; a file that is no JSON object stays as it is.

    A system's settings would do, but it refuses them in a folder below one that everybody can write to (measured).
    """
    file = settings_file(stage.room.home)
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        settings = json.loads(file.read_bytes()) if file.exists() else {}
    except ValueError:
        settings = None
    if isinstance(settings, dict):
        file.write_text(json.dumps({**settings, **_NEEDED}))
    trusted = file.parent / "trustedFolders.json"
    trusted.write_text(json.dumps({str(stage.room.project): "TRUST_FOLDER"}))


def argv(found: str, room: Room, prompt: str) -> list[str]:
    return [found, "-p", prompt, "--output-format", "stream-json", "--approval-mode", "yolo"]


def hook_name(tool: str) -> str:
    return tool


def shell(command: str) -> Call:
    return Call("run_shell_command", {"command": command, "description": "probe"})


def read(file: Path) -> Call:
    return Call("read_file", {"file_path": str(file)})


def write(file: Path, content: str) -> Call:
    return Call("write_file", {"file_path": str(file), "content": content})


def subagent(prompt: str, more: Mapping[str, Any]) -> Call:
    return Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt, **more})


def skill(name: str, home: Path) -> tuple[Call, Path]:
    return Call("activate_skill", {"name": name}), home / ".gemini" / "skills" / name / "SKILL.md"


def session(id: str) -> tuple[str, ...]:
    return ()
