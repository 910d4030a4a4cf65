"""Where ``install`` writes for each client, and in what form: files, scopes, one hook object, what must be said."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.dispatch.dialects.routing import in_shell, is_told, own_event, own_matcher, routes
from overdeck.dispatch.manifest import Manifest
from overdeck.paths import Places
from overdeck.wiring.sources import PROJECT_FILES, user_settings


class Target(NamedTuple):
    """A client that ``install`` can wire. ``files``: scope → the file's name in the project's ``folder``, or in the
    user's."""

    client: str
    title: str
    folder: str
    files: Mapping[str, str]
    per_second: int = 1
    """What its timeouts count: seconds, or 1,000 of them a second."""
    words: bool = False
    """Whether it takes a command as words, without a shell."""
    runs_once: bool = True
    """Whether it runs identical entries of several files once."""

    def user_file(self, places: Places) -> Path:
        """The user's own file. Absolute."""
        if self.client == "claude":
            return user_settings(places).absolute()
        own: Path = getattr(places.folders, self.client)
        return (self._inside(own) / self.files["user"]).absolute()

    def project_file(self, project: Path, scope: str) -> Path:
        """A project's file of this scope."""
        return self._inside(project / self.folder) / self.files[scope]

    def _inside(self, folder: Path) -> Path:
        return folder / "plugin" if self.client == "opencode" else folder

    def hook(self, argv: list[str], timeout_s: int) -> dict[str, Any]:
        """The hook object that starts ``argv``."""
        command: dict[str, Any] = {"command": argv[0], "args": argv[1:]} if self.words else {}
        return {
            "type": "command",
            **(command or {"command": shlex.join(argv)}),
            "timeout": timeout_s * self.per_second,
        }


TARGETS = {
    target.client: target
    for target in (
        Target(
            "claude",
            "Claude Code",
            ".claude",
            {"user": "settings.json", **PROJECT_FILES},
            words=True,
        ),
        Target(
            "codex",
            "Codex",
            ".codex",
            {"user": "hooks.json", "project": "hooks.json"},
            runs_once=False,
        ),
        Target(
            "gemini",
            "Gemini CLI",
            ".gemini",
            {"user": "settings.json", "project": "settings.json"},
            per_second=1000,
        ),
        Target("opencode", "OpenCode", ".opencode", {"user": "overdeck.js", "project": "overdeck.js"}),
    )
}
"""OpenCode has no settings for hooks: its file is a plugin that ``install`` writes whole."""


def argv_of(hook: Mapping[str, Any]) -> tuple[str, ...]:
    """The words a hook object starts, as it stands in a file; a shell line taken apart where a shell would."""
    command, args = hook.get("command"), hook.get("args")
    if isinstance(args, list):
        return (str(command), *map(str, args))
    try:
        return tuple(shlex.split(command)) if isinstance(command, str) else ()
    except ValueError:
        return (str(command),)


def union_for(client: str, enabled: list[Manifest]) -> dict[str, str]:
    """Event, by Claude's name → the matcher in the client's own grammar for all modules that are on.

    Only events that the client has. An adopted hook answers as Claude's hooks do, and is for Claude alone.
    """
    found: dict[str, list[list[str]]] = {}
    for module in enabled:
        if module.cls == "adopted":
            continue
        for event, matcher in module.events.items():
            if own_event(client, event) and is_told(client, event, module.native):
                found.setdefault(event, []).append(routes(client, event, matcher))
                if in_shell(client, event, module.cls, matcher):
                    found[event].append(["Bash"])
    return {event: own_matcher(client, event, routed) for event, routed in found.items()}


def unserved(client: str, enabled: list[Manifest]) -> Iterator[str]:
    """What a client cannot be asked for: modules and those of their events that it does not have."""
    for module in enabled:
        missing = [
            event
            for event in module.events
            if not (own_event(client, event) and is_told(client, event, module.native))
        ]
        if module.cls == "adopted":
            yield f"{module.id} (an adopted hook of Claude Code)"
        elif missing:
            yield f"{module.id} ({', '.join(missing)})"
