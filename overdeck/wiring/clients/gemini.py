"""Gemini CLI 0.61.0: settings.json of user, project and system, and the extensions' hooks/hooks.json.

Measured (contract/FACTS.md, 6): milliseconds, ``"5"`` is 5 ms, comments are fine, broken JSON ends the CLI with exit
52, bad entries are discarded singly, regex matchers, identical commands run once, ``hooksConfig.enabled``. From its
documentation and published source: the default of 60,000 ms, the system's files, extensions, exact matchers on events
that are no tool's, ``hooksConfig.disabled``.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from overdeck.paths import Places
from overdeck.wiring.clients.codex import searches
from overdeck.wiring.clients.opening import opened
from overdeck.wiring.handler import LONGEST_TIMEOUT_S, Handler
from overdeck.wiring.parsing import Dialect, Flaw, Walk, document, kind, shown
from overdeck.wiring.reading import listed
from overdeck.wiring.settings import Settings

NAME = "gemini"
EVENTS = (
    "SessionStart",
    "SessionEnd",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "BeforeTool",
    "AfterTool",
    "PreCompress",
    "Notification",
)

DEFAULT_TIMEOUT_S = 60.0

_SUBJECTS = {
    "BeforeTool": "tool_name",
    "AfterTool": "tool_name",
    "SessionStart": "source",
    "SessionEnd": "reason",
    "PreCompress": "trigger",
    "Notification": "notification_type",
}
_NOT_EVENTS = ("enabled", "disabled", "notifications")
"""What stood inside ``hooks`` before it moved to ``hooksConfig``."""


def usual_paths(places: Places, project: Path) -> list[Path]:
    return list(_scopes(places, project))


def files(places: Places, project: Path, *, root: Path = Path("/")) -> list[Settings]:
    """System defaults, user, project, the system's overrides; then extensions, switched off or not."""
    etc = root / "etc" / "gemini-cli"
    defaults = places.folders.gemini_defaults or etc / "system-defaults.json"
    overrides = places.folders.gemini_system or etc / "settings.json"
    scopes = {defaults: "managed"} | _scopes(places, project) | {overrides: "managed"}
    found = [file for path, scope in scopes.items() for file in opened(NAME, path, scope=scope)]
    for folder in listed(places.folders.gemini / "extensions"):
        found += opened(NAME, folder / "hooks" / "hooks.json", scope="plugin", plugin_root=folder)
    return found


def _scopes(places: Places, project: Path) -> dict[Path, str]:
    """The user's file (``GEMINI_CLI_HOME``) and the project's; in the home directory they are one, unless moved."""
    user = (places.folders.gemini / "settings.json").absolute()
    return {user: "user"} | {project.absolute() / ".gemini" / "settings.json": "project"} | {user: "user"}


def parse(raw: bytes, path: Path, *, scope: str = "", plugin_root: Path | None = None) -> Settings:
    """A settings.json, or an extension's hooks.json."""
    if plugin_root is None and path.name == "hooks.json":
        plugin_root = path.absolute().parent.parent
    data, problems = document(raw.decode("utf-8", errors="replace").removeprefix("\ufeff"), comments=True)
    fatal = [replace(problem, reason=f"{problem.reason}; the CLI ends with exit 52") for problem in problems]
    walk = Walk(DIALECT, path, str(plugin_root) if plugin_root is not None else "", list(fatal))
    if not isinstance(data, dict):
        if not problems:
            walk.problem("the top level is not an object", "make it one: { … }")
        data = {}
    hooks = data.get("hooks", {})
    if isinstance(hooks, dict):
        hooks = {event: groups for event, groups in hooks.items() if event not in _NOT_EVENTS}
    walk.hooks(hooks, "hooks")
    off = _switched_off(data)
    handlers = tuple(replace(one, dropped=True) if one.command in off else one for one in walk.handlers)
    scope = scope or ("plugin" if plugin_root is not None else "")
    return Settings(path, data, handlers, tuple(walk.problems), plugin_root, NAME, scope)


def _switched_off(data: Mapping[str, Any]) -> list[str]:
    """The hooks that ``hooksConfig.disabled`` names by their command."""
    config = data.get("hooksConfig")
    names = config.get("disabled") if isinstance(config, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _flaws(hook: Mapping[str, Any]) -> Iterator[Flaw]:
    type = hook.get("type")
    if type not in ("command", "plugin"):
        yield Flaw(
            f"type is {shown(type)}: the hook is discarded",
            'write "type": "command"',
            "type" if "type" in hook else "",
            alone=True,
        )
    command = hook.get("command")
    if type == "command" and not (isinstance(command, str) and command):
        why = f"command is {kind(command)}" if command else "the hook has no command"
        yield Flaw(f"{why}: the hook is discarded", 'add "command": "…"', alone=True)


def seconds(value: object) -> float | None:
    """Milliseconds, or a string of them, as the timer takes them, in seconds: what it cannot take counts as 1 ms."""
    if value is None:
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    return max(1.0, number) / 1000 if not math.isnan(number) else 0.001


DIALECT = Dialect(NAME, {}, _flaws, seconds, alone=True, null_matcher=True)


def matches(matcher: str, subject: str, event: str = "") -> bool:
    """An unanchored regex on tools, one that is none as it stands; the exact word on other events."""
    matcher = matcher.strip()
    if matcher in ("", "*"):
        return True
    if event and subject_key(event) != "tool_name":
        return matcher == subject
    return searches(matcher, subject) or matcher == subject


def subject_key(event: str) -> str:
    return _SUBJECTS.get(event, "")


def longest_s(handler: Handler) -> float:
    if handler.timeout_s is None:
        return DEFAULT_TIMEOUT_S
    return handler.timeout_s if handler.timeout_s <= LONGEST_TIMEOUT_S else 0.0


def identity(handler: Handler) -> tuple[object, ...]:
    """Identical commands run once, over all files (measured: one of four)."""
    return ("", handler.type, handler.command)


def disabled(data: Mapping[str, Any]) -> bool:
    config = data.get("hooksConfig")
    return isinstance(config, dict) and config.get("enabled") is False
