"""A payload for running a module without a client: a file as if it was just written, a command as if it was to run."""

import json
from pathlib import Path
from typing import Any

from overdeck.dispatch.manifest import Manifest
from overdeck.errors import not_found, usage
from overdeck.files import read_start
from overdeck.payloadfile import LARGEST, Payload

SESSION = "by-hand"


def of_file(manifest: Manifest, path: Path, cwd: Path) -> Payload:
    """The payload of a Write of ``path`` with what it holds now, at the event that ``manifest`` asks for.

    Raises OverdeckError where the file cannot be read (3), or the module is asked about no files (2).
    """
    event = next((event for event in ("PostToolUse", "PreToolUse") if event in manifest.events), "")
    if not event:
        raise usage(f"{manifest.id} is not asked about files", hint=f"overdeck hooks show {manifest.id}")
    try:
        content = read_start(path, LARGEST).decode("utf-8", "replace")
    except OSError as error:
        raise not_found(f"{path} cannot be read: {error.strerror}", code="no-file", hint="name a file") from None
    tool_input = {"file_path": str(path.absolute()), "content": content}
    response = {"filePath": str(path.absolute()), "originalFile": None}
    return _payload(event, "Write", tool_input, cwd, {"tool_response": response} if event == "PostToolUse" else {})


def of_command(manifest: Manifest, command: str, cwd: Path) -> Payload:
    """The payload of a shell command before it runs; raises OverdeckError (2) where the module is not asked then."""
    if "PreToolUse" not in manifest.events:
        raise usage(f"{manifest.id} is not asked about commands", hint=f"overdeck hooks show {manifest.id}")
    return _payload("PreToolUse", "Bash", {"command": command}, cwd, {})


def _payload(event: str, tool: str, tool_input: dict[str, Any], cwd: Path, more: dict[str, Any]) -> Payload:
    document = {
        "session_id": SESSION, "cwd": str(cwd), "hook_event_name": event, "tool_name": tool, "tool_input": tool_input,
        **more,
    }  # fmt: skip
    return Payload(json.dumps(document, ensure_ascii=False).encode(), document, event)
