"""A front with the loggers of the pack evidence on, payloads for them, and the lines they wrote."""

import json
from collections.abc import Sequence
from typing import Any

from fronts import Front

EVIDENCE = ("journal", "ledger", "capture")
STARTED = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/home/dev/proj", "source": "startup"}


def switch_on(front: Front, *events: str, ids: Sequence[str] = (*EVIDENCE, "replay"), more: str = "") -> Front:
    """These modules on, with ``more`` in the table of capture; plans are made of these events."""
    front.ship(*ids, more={"capture": more} if more else None)
    front.install(*events)
    return front


def written(front: Front, module: str) -> list[dict[str, Any]]:
    """All lines that a logger wrote."""
    folder = front.state / "modules" / module
    return [json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]


def used(session: str = "s", **extra: Any) -> dict[str, Any]:
    """The payload of a tool that has run."""
    return {"hook_event_name": "PostToolUse", "session_id": session, "cwd": "/home/dev/proj", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_response": {"stdout": ""}, **extra}  # fmt: skip


def with_a_gate(front: Front) -> None:
    """A gate that is asked after every tool, and says nothing."""
    folder = front.user / "gate"
    folder.mkdir()
    (folder / "module.py").write_text("def evaluate(call):\n    return None\n")
    (folder / "module.toml").write_text('id = "gate"\nclass = "gate"\n[events]\nPostToolUse = "*"\n')
