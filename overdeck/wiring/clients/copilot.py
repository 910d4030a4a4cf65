"""GitHub Copilot's agents: ``.github/hooks/*.json`` of the project and ``~/.copilot/hooks/*.json``, for audits only.

Nothing here was measured; all of it is GitHub's documentation (``version``, ``hooks``, event → list of
``{"type", "bash", "powershell", "timeoutSec", "matcher"}``, 30 s where none is named, ``disableAllHooks``).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overdeck.paths import Places
from overdeck.wiring.clients.codex import searches
from overdeck.wiring.clients.flat import parse_flat
from overdeck.wiring.clients.opening import distinct, opened
from overdeck.wiring.handler import Handler
from overdeck.wiring.reading import listed
from overdeck.wiring.settings import Settings

NAME = "copilot"
EVENTS = (
    "sessionStart",
    "sessionEnd",
    "userPromptSubmitted",
    "preToolUse",
    "postToolUse",
    "agentStop",
    "subagentStop",
    "errorOccurred",
)
DEFAULT_TIMEOUT_S = 30.0


def usual_paths(places: Places, project: Path) -> list[Path]:
    """The files that exist: any name ending in .json counts."""
    return distinct(
        path
        for folder in (places.home / ".copilot" / "hooks", project / ".github" / "hooks")
        for path in listed(folder)
        if path.suffix == ".json"
    )


def files(places: Places, project: Path, *, root: Path = Path("/")) -> list[Settings]:
    return [
        file
        for path in usual_paths(places, project)
        for file in opened(NAME, path, scope="user" if path.parent.parent.name == ".copilot" else "project")
    ]


def parse(raw: bytes, path: Path, *, scope: str = "", plugin_root: Path | None = None) -> Settings:
    keys = ("bash", "command", "powershell")
    return parse_flat(raw, path, NAME, commands=keys, timeouts=("timeoutSec", "timeout"), scope=scope)


def matches(matcher: str, subject: str, event: str = "") -> bool:
    return matcher in ("", "*") or searches(matcher, subject)


def subject_key(event: str) -> str:
    return "toolName" if event in ("preToolUse", "postToolUse") else ""


def longest_s(handler: Handler) -> float:
    return DEFAULT_TIMEOUT_S if handler.timeout_s is None else handler.timeout_s


def identity(handler: Handler) -> tuple[object, ...]:
    """Nothing is said of dedup: every copy counts."""
    return ((handler.file, handler.pointer), handler.type, handler.command)


def disabled(data: Mapping[str, Any]) -> bool:
    return data.get("disableAllHooks") is True
