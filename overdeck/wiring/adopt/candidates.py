"""Which handlers of a settings file can become modules, under which id, and why the others cannot."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import joined_matcher
from overdeck.dispatch import clients, matchers
from overdeck.dispatch.manifest import MAX_ADOPTED_TIMEOUT_MS
from overdeck.wiring.commandline import started
from overdeck.wiring.entries import is_ours
from overdeck.wiring.handler import Handler
from overdeck.wiring.settings import Settings

EVENTS = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Notification",
)
"""Events of which it was measured what the client does with each answer, an exit code of 2 included (FACTS 3)."""

IGNORE_MATCHERS = ("UserPromptSubmit", "Stop", "PostToolBatch")
"""Events where the client was seen to ignore a matcher (FACTS 2); of other events without a subject nobody knows."""

CARRIED = {
    "type", "command", "args", "timeout", "async", "statusMessage",
    "description", "name", "id", "comment", "_comment",
}  # fmt: skip
"""Keys of a hook that a module stands for, and names and notes that the client ignores. ``statusMessage`` is a text
on the screen while it runs, and is lost."""


@dataclass(frozen=True)
class Candidate:
    """One hook as the client runs it: identical handlers are one. ``matchers`` is event → matcher."""

    id: str
    handlers: tuple[Handler, ...]
    matchers: dict[str, str]
    timeout_ms: int
    project: str = ""

    @property
    def handler(self) -> Handler:
        return self.handlers[0]


@dataclass(frozen=True)
class Left:
    """A handler that stays as it was, and why."""

    handler: Handler
    why: str


def candidates(
    settings: Settings,
    *,
    home: Path,
    taken: Sequence[str] = (),
    only: Sequence[str] = (),
    broken: Mapping[str, str] | None = None,
) -> tuple[list[Candidate], list[Left]]:
    """Split the handlers of one file. ``only``: pointers or command lines; ``taken``: ids that modules have already;
    ``broken``: pointer → why it cannot start.

    Handlers of ours are neither.
    """
    left: list[Left] = []
    groups: dict[tuple[object, ...], list[Handler]] = {}
    for handler in settings.all_handlers:
        hook = _at(settings.data, handler.pointer)
        if is_ours(hook) or (only and not {handler.pointer, handler.command, handler.shown} & set(only)):
            continue
        if why := _why_not(handler, hook) or (broken or {}).get(handler.pointer, ""):
            left.append(Left(handler, why))
        else:
            groups.setdefault((*handler.identity, handler.background), []).append(handler)
    used = set(taken)
    project = _project(settings, home)
    found = []
    for handlers in groups.values():
        timeout_ms = max(1, *(round(handler.longest_s * 1000) for handler in handlers))
        found.append(Candidate(_id(handlers[0], used), tuple(handlers), _matchers(handlers), timeout_ms, project))
        used.add(found[-1].id)
    return found, left


def _why_not(handler: Handler, hook: Any) -> str:
    """Why a handler cannot be adopted; empty where it can."""
    if handler.type != "command":
        return f"a {handler.type} hook is run by the client itself"
    if handler.plugin:
        return "it is a plugin's, and goes and comes with it"
    if handler.dropped:
        return "the client drops this file, so it does not run today"
    if handler.condition:
        return 'its "if" is judged by the client'
    strange = sorted(set(hook) - CARRIED) if isinstance(hook, dict) else []
    if strange:
        return f"no module can stand for its {strange[0]!r}"
    if handler.event not in matchers.CLAUDE_EVENTS:
        return f"{handler.event} is no event of the client: it never runs"
    if handler.event not in EVENTS:
        return f"what the client does with every answer at {handler.event} was not measured"
    if handler.unstartable:
        return handler.unstartable
    if not handler.command.strip():
        return "its command is empty"
    if not 0 < handler.longest_s * 1000 <= MAX_ADOPTED_TIMEOUT_MS:
        return f"its timeout is not within {MAX_ADOPTED_TIMEOUT_MS // 60_000} minutes, the longest the front waits"
    return _why_no_matcher(handler)


def _why_no_matcher(handler: Handler) -> str:
    plain = handler.matcher in ("", "*") or handler.event in IGNORE_MATCHERS
    if plain:
        return ""
    if not clients.subject_key(handler.event):
        return f"a module has no matcher at {handler.event}: it would be asked every time"
    if matchers.routes(handler.event, handler.matcher) in (["-"], ["?"]) and not _may_match(handler.matcher):
        return f"its matcher {handler.matcher!r} matches nothing: it never runs"
    return ""


def _may_match(matcher: str) -> bool:
    """Whether a regex of no known tool can match a tool of somebody's server."""
    if matchers.is_exact(matcher):
        return False
    try:
        re.compile(matcher)
    except (re.error, RecursionError, OverflowError):
        return False
    return re.search(matchers.PYTHON_ONLY, matcher) is None


def _matchers(handlers: Sequence[Handler]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for handler in handlers:
        ignored = not clients.subject_key(handler.event)
        found.setdefault(handler.event, []).append("*" if ignored else handler.matcher or "*")
    return {event: parts[0] if len(set(parts)) == 1 else joined_matcher(parts) for event, parts in found.items()}


def _id(handler: Handler, used: set[str]) -> str:
    """An id out of the script's name, else out of the program's; a number makes it one of its own."""
    base = re.sub(r"[^a-z0-9]+", "-", Path(_name(handler)).stem.lower()).strip("-")[:40] or "hook"
    names = [base, *(f"{base}-{number}" for number in range(2, len(used) + 3))]
    return next(name for name in names if name not in used)


def _name(handler: Handler) -> str:
    words = [word for program in started(handler).programs for word in program]
    scripts = [word for word in words if re.search(r"\.(py|sh|bash|zsh|js|mjs|cjs|ts|rb|pl|php)$", word)]
    return scripts[0] if scripts else words[0] if words else "hook"


def _project(settings: Settings, home: Path) -> str:
    """The project whose hooks these are; empty for the user's own file, and for one that lies anywhere else."""
    folder = settings.path.absolute().parent
    if settings.scope in ("user", "managed") or folder.name != ".claude" or folder.parent == home.absolute():
        return ""
    return str(folder.parent)


def _at(data: Any, pointer: str) -> Any:
    """The value a JSON pointer names."""
    for word in pointer.split("/")[1:]:
        key = word.replace("~1", "/").replace("~0", "~")
        data = data[int(key)] if isinstance(data, list) else data[key]
    return data


def hook_at(settings: Settings, handler: Handler) -> Any:
    """A handler's own JSON."""
    return _at(settings.data, handler.pointer)


def listed(found: Sequence[Candidate]) -> Iterator[str]:
    """The command lines that would be run, each once."""
    yield from dict.fromkeys(candidate.handler.shown for candidate in found)
