"""Cursor: hooks.json of the system, the user and the project, read for audits only.

Nothing here was measured; all of it is Cursor's documentation (``version``, ``hooks``, event → list of
``{"command", "type", "timeout", "matcher"}``). It names no default timeout; 60 s is assumed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overdeck.paths import Places
from overdeck.wiring.clients.codex import searches
from overdeck.wiring.clients.flat import parse_flat
from overdeck.wiring.clients.opening import distinct, opened
from overdeck.wiring.handler import Handler
from overdeck.wiring.settings import Settings

NAME = "cursor"
EVENTS = (
    "sessionStart",
    "sessionEnd",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "subagentStart",
    "subagentStop",
    "beforeShellExecution",
    "afterShellExecution",
    "beforeMCPExecution",
    "afterMCPExecution",
    "beforeReadFile",
    "afterFileEdit",
    "beforeSubmitPrompt",
    "preCompact",
    "stop",
    "afterAgentResponse",
    "afterAgentThought",
    "beforeTabFileRead",
    "afterTabFileEdit",
)
ASSUMED_TIMEOUT_S = 60.0


def usual_paths(places: Places, project: Path) -> list[Path]:
    return distinct(folder / ".cursor" / "hooks.json" for folder in (places.home, project))


def files(places: Places, project: Path, *, root: Path = Path("/")) -> list[Settings]:
    found = list(opened(NAME, root / "etc" / "cursor" / "hooks.json", scope="managed"))
    for path, scope in zip(usual_paths(places, project), ("user", "project"), strict=False):
        found += opened(NAME, path, scope=scope)
    return found


def parse(raw: bytes, path: Path, *, scope: str = "", plugin_root: Path | None = None) -> Settings:
    return parse_flat(raw, path, NAME, commands=("command",), timeouts=("timeout",), scope=scope)


def matches(matcher: str, subject: str, event: str = "") -> bool:
    return matcher in ("", "*") or searches(matcher, subject)


def subject_key(event: str) -> str:
    """What the documentation says a matcher is held against, where it names a key."""
    if event in ("preToolUse", "postToolUse", "postToolUseFailure"):
        return "tool_name"
    if event in ("beforeShellExecution", "afterShellExecution"):
        return "command"
    return "subagent_type" if event in ("subagentStart", "subagentStop") else ""


def longest_s(handler: Handler) -> float:
    return ASSUMED_TIMEOUT_S if handler.timeout_s is None else handler.timeout_s


def identity(handler: Handler) -> tuple[object, ...]:
    """Nothing is said of dedup: every copy counts."""
    return ((handler.file, handler.pointer), handler.type, handler.command)


def disabled(data: Mapping[str, Any]) -> bool:
    return False
