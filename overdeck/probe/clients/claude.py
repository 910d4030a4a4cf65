"""Claude Code, headless: ``claude -p`` with a dummy key and the mock as its provider (FACTS 8)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overdeck.probe.mock import anthropic
from overdeck.probe.mock.script import Call, Reply, calls
from overdeck.probe.mock.wire import Wire
from overdeck.probe.room import Room

name = "claude"
program = "claude"
wire: Wire = anthropic
tool_events = ("PreToolUse", "PostToolUse")

_EVERYTHING = ("Agent", "Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "WebFetch", "Write")


def environ(room: Room, url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy-key-of-overdeck-probe",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "IS_SANDBOX": "1",
    }


def settings_file(room: Room) -> Path:
    return room.home / ".claude" / "settings.json"


def lay_out(room: Room, hooks: Mapping[str, Any], url: str, *, guarded: bool) -> None:
    """Write the user's settings of the throwaway HOME. ``guarded``: what no hook denies, the client itself refuses.

    An ``ask`` rule stands above every permission but a denial, and headless nobody answers (FACTS 3).
    """
    settings: dict[str, Any] = {"hooks": dict(hooks)}
    settings["permissions"] = {"ask" if guarded else "allow": list(_EVERYTHING)}
    file = settings_file(room)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings, indent=1))


def argv(found: str, prompt: str) -> list[str]:
    return [found, "-p", prompt, "--output-format", "stream-json", "--verbose"]


def harmless(room: Room) -> Sequence[Reply]:
    """Tool calls that hurt nothing, two of them at once."""
    return (
        calls(("Bash", {"command": "echo overdeck probe", "description": "say so"})),
        calls(
            ("Read", {"file_path": str(room.project / "a.txt")}),
            ("Write", {"file_path": str(room.project / "new.txt"), "content": "one\n"}),
        ),
    )


def shell(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "canary"})


def read(file: Path) -> Call:
    return Call("Read", {"file_path": str(file)})
