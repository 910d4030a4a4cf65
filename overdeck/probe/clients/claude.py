"""Claude Code, headless: ``claude -p`` with a dummy key and the mock as its provider (FACTS 8)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overdeck.probe.clients import SUBAGENT, Rare, Stage
from overdeck.probe.mock import anthropic
from overdeck.probe.mock.script import Call, Reply, calls
from overdeck.probe.mock.wire import Wire
from overdeck.probe.room import Room

name = "claude"
program = "claude"
wire: Wire = anthropic
guards = True
hands_on_unknown_keys = False

attended = ("PermissionRequest", "Notification", "Elicitation", "ElicitationResult")

_WINDOW = 100_000
"""Tokens after which it compacts a conversation; fewer are raised to this (measured)."""

_EVERYTHING = (
    "Agent", "Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "TaskCreate", "TaskUpdate", "WebFetch", "Write",
)  # fmt: skip


def environ(room: Room, url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy-key-of-overdeck-probe",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(_WINDOW),
        "IS_SANDBOX": "1",
    }


def settings_file(home: Path) -> Path:
    return home / ".claude" / "settings.json"


def lay_out(stage: Stage) -> None:
    """Permissions, in a file of their own: what the HOME says of hooks stays as it is, to the byte.

    An ``ask`` rule stands above every permission but a denial, and headless nobody answers (FACTS 3).
    """
    rules: dict[str, Any] = {
        "open": {"allow": list(_EVERYTHING)},
        "plain": {},
        "asking": {"ask": list(_EVERYTHING)},
    }
    rule = rules[stage.guard]
    _flag_settings(stage.room).write_text(json.dumps({"permissions": rule}))


def _flag_settings(room: Room) -> Path:
    return room.root / "claude-permissions.json"


def argv(found: str, room: Room, prompt: str) -> list[str]:
    settings = ["--settings", str(_flag_settings(room))]
    return [found, "-p", prompt, "--output-format", "stream-json", "--verbose", *settings]


def hook_name(tool: str) -> str:
    return tool


def shell(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "canary"})


def read(file: Path) -> Call:
    return Call("Read", {"file_path": str(file)})


def write(file: Path, content: str) -> Call:
    return Call("Write", {"file_path": str(file), "content": content})


def subagent(prompt: str, more: Mapping[str, Any]) -> Call:
    return Call("Agent", {"description": "canary", "prompt": prompt, "subagent_type": "general-purpose", **more})


def skill(name: str, home: Path) -> tuple[Call, Path]:
    return Call("Skill", {"skill": name}), home / ".claude" / "skills" / name / "SKILL.md"


def session(id: str) -> tuple[str, ...]:
    return ("--session-id", id)


def _one(tool: str, given: dict[str, Any]) -> tuple[Reply, ...]:
    return (calls((tool, given)),)


_subagent = (Reply(calls=(subagent(f"{SUBAGENT}: say done", {}),)),)
_task = (
    *_one("TaskCreate", {"subject": "probe", "description": "probe", "activeForm": "probing"}),
    *_one("TaskUpdate", {"taskId": "1", "status": "completed"}),
)
_full = (Reply(calls=(shell("true"),), tokens=9 * _WINDOW), Reply(calls=(shell("true"),)))

rare = {
    "PostToolUseFailure": Rare(_one("Bash", {"command": "exit 3", "description": "fail"}), "Bash"),
    "CwdChanged": Rare(_one("Bash", {"command": "cd /", "description": "go"})),
    "TaskCreated": Rare(_task),
    "TaskCompleted": Rare(_task),
    "SubagentStart": Rare(_subagent, "general-purpose"),
    "SubagentStop": Rare(_subagent, "general-purpose"),
    "PreCompact": Rare(_full, "auto"),
    "PostCompact": Rare(_full, "auto"),
    "StopFailure": Rare((Reply(status=400),), "unknown"),
}
