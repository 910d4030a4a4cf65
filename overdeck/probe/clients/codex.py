"""Codex CLI, headless: ``codex exec`` with the mock as a provider of its own (FACTS 8)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overdeck.probe.clients import SUBAGENT, Rare, Stage
from overdeck.probe.mock import responses
from overdeck.probe.mock.script import Call, Reply
from overdeck.probe.mock.wire import Wire
from overdeck.probe.room import Room

name = "codex"
program = "codex"
wire: Wire = responses
guards = False
hands_on_unknown_keys = True
attended = ("PermissionRequest", "Interrupt")

_MODEL = "gpt-5.5"
"""One of its catalogue: without one it offers no ``apply_patch``."""


def environ(room: Room, url: str) -> dict[str, str]:
    return {"MOCK_KEY": "dummy", "CODEX_HOME": str(room.home / ".codex")}


def settings_file(home: Path) -> Path:
    return home / ".codex" / "hooks.json"


def lay_out(stage: Stage) -> None:
    """Its config.toml; hooks stand in hooks.json beside it. Analytics would cost 5 s at the end."""
    file = stage.room.home / ".codex" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f'model = "{_MODEL}"\nmodel_provider = "mock"\ncheck_for_update_on_startup = false\n'
        "[analytics]\nenabled = false\n"
        f'[model_providers.mock]\nname = "mock"\nbase_url = "{stage.url}/v1"\nwire_api = "responses"\n'
        'env_key = "MOCK_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\nsupports_websockets = false\n'
        f'[projects.{json.dumps(str(stage.room.project))}]\ntrust_level = "trusted"\n'
    )


def argv(found: str, room: Room, prompt: str) -> list[str]:
    free = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
    return [found, "exec", "--json", "--skip-git-repo-check", *free, prompt]


def hook_name(tool: str) -> str:
    return "Bash" if tool == "exec_command" else tool


def shell(command: str) -> Call:
    return Call("exec_command", {"cmd": command})


def read(file: Path) -> Call:
    """It has no tool that reads a file."""
    return shell(f"cat {file}")


def write(file: Path, content: str) -> Call:
    lines = "".join(f"+{line}\n" for line in content.splitlines())
    return Call("apply_patch", f"*** Begin Patch\n*** Add File: {file}\n{lines}*** End Patch\n")


def subagent(prompt: str, more: Mapping[str, Any]) -> Call:
    return Call("spawn_agent", {"message": prompt, **more}, "multi_agent_v1")


def skill(name: str, home: Path) -> tuple[Call, Path]:
    """It has no tool for skills: its model reads their files in a shell (measured)."""
    file = home / ".codex" / "skills" / name / "SKILL.md"
    return read(file), file


def session(id: str) -> tuple[str, ...]:
    return ()


_subagent = (Reply(calls=(subagent(f"{SUBAGENT}: say done", {}),)), Reply("Waited.", delay_s=2))
_full = (Reply(calls=(shell("true"),), tokens=990_000), Reply(calls=(shell("true"),)))

rare = {
    "PreCompact": Rare(_full, "auto"),
    "PostCompact": Rare(_full, "auto"),
    "SubagentStart": Rare(_subagent),
    "SubagentStop": Rare(_subagent, certain=False),  # it ends with its main thread, whoever is at work
}
