"""Codex CLI 0.171.0: hooks.json and the ``[hooks]`` tables of config.toml, of the user and of every folder from the
repository's root down.

Measured (contract/FACTS.md, 5, and clients.md): which flaws drop a file, what is tolerated, matchers, no dedup, whole
seconds, the default of 600 s, ``[features] hooks = false``, and that a hook runs only after it was trusted (which is
not looked up here). From its documentation and published source: which events take a matcher, and
``/etc/codex/config.toml``.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from overdeck.dispatch.dialects import codex
from overdeck.dispatch.matchers import PYTHON_ONLY
from overdeck.paths import Places
from overdeck.wiring.clients.opening import distinct, opened, upwards
from overdeck.wiring.handler import Handler
from overdeck.wiring.parsing import Dialect, Flaw, Walk, document, kind, positive, shown
from overdeck.wiring.settings import Settings

NAME = "codex"
EVENTS = (*codex.EVENTS, "PreModelRequest", "PostModelRequest", "Interrupt")

DEFAULT_TIMEOUT_S = 600.0
TOML_BYTES = 1_000_000
"""A config.toml beyond this is not parsed: that takes about a second a megabyte."""

_TOOL_EVENTS = ("PreToolUse", "PermissionRequest", "PostToolUse")
_DEEP_KEY = re.compile(r"""(?:["'\w-]+[ \t]*\.[ \t]*){64}""")
"""A dotted key whose parsing takes time in the square of its parts."""


def usual_paths(places: Places, project: Path) -> list[Path]:
    """The user's two files (``CODEX_HOME``), then those of each folder from the repository's root to ``project``."""
    return list(_scopes(places, project))


def files(places: Places, project: Path, *, root: Path = Path("/")) -> list[Settings]:
    """The administrator's config.toml, the user's two files, the project's; those of them with hooks or problems."""
    scopes = {root / "etc" / "codex" / "config.toml": "managed"} | _scopes(places, project)
    found = [file for path, scope in scopes.items() for file in opened(NAME, path, scope=scope)]
    return [file for file in found if file.path.suffix != ".toml" or file.problems or _says_something(file.data)]


def _says_something(data: Mapping[str, Any]) -> bool:
    """Whether a config.toml, which most people have for other reasons, has anything about hooks."""
    return "hooks" in data or disabled(data)


def _scopes(places: Places, project: Path) -> dict[Path, str]:
    folders = {places.folders.codex: "user"}
    for folder in upwards(project):
        folders.setdefault(folder / ".codex", "project")
    return {
        path: scope
        for folder, scope in folders.items()
        for path in distinct([folder / "hooks.json", folder / "config.toml"])
    }


def parse(raw: bytes, path: Path, *, scope: str = "", plugin_root: Path | None = None) -> Settings:
    """A config.toml, or a hooks.json, which is read strictly: no BOM, no comment, no unknown key at its top."""
    if path.suffix == ".toml":
        return _parse_toml(raw, path, scope)
    text = raw.decode("utf-8", errors="replace")
    data, problems = document(text.removeprefix("\ufeff"))
    walk = Walk(DIALECT, path, str(plugin_root) if plugin_root is not None else "", problems)
    if text.startswith("\ufeff"):
        walk.problem("it begins with a byte order mark", "save it as UTF-8 without one")
    if "\ufffd" in text and not _is_utf8(raw):
        walk.problem("it is not UTF-8", "save it as UTF-8")
    if not isinstance(data, dict):
        if not problems:
            walk.problem("the top level is not an object", "make it one: { … }")
        data = {}
    for key in [key for key in data if key not in ("hooks", "description")][:20]:
        walk.problem(f"unknown key {key[:60]!r} beside hooks", "remove it", key)
    if "hooks" in data:
        walk.hooks(data["hooks"], "hooks")
    return Settings(path, data, walk.handlers, tuple(walk.problems), plugin_root, NAME, scope)


def _parse_toml(raw: bytes, path: Path, scope: str) -> Settings:
    import tomllib  # 4 ms that only a config.toml is worth

    walk = Walk(DIALECT, path)
    data: dict[str, Any] = {}
    try:
        text = raw.decode()
        if len(raw) > TOML_BYTES or _DEEP_KEY.search(text):
            walk.problem(
                "it was not read: it is too large or a key has too many dots", f"ls -l {path}", drops=False
            )
        else:
            data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        walk.problem(f"it is not TOML: {error}"[:200], "mend the TOML")
    hooks = data.get("hooks", {})
    if isinstance(hooks, dict):  # trust and switches of single hooks are kept beside the events
        hooks = {event: groups for event, groups in hooks.items() if event != "state"}
    walk.hooks(hooks, "hooks")
    return Settings(path, data, walk.handlers, tuple(walk.problems), None, NAME, scope)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _flaws(hook: Mapping[str, Any]) -> Iterator[Flaw]:
    type = hook.get("type")
    if "type" not in hook:
        yield Flaw("the hook has no type", 'add "type": "command"')
    elif type in ("prompt", "agent"):
        yield Flaw(f"Codex skips hooks of type {type}", "write a command hook", "type", alone=True)
    elif type != "command":
        yield Flaw(f"unknown hook type {shown(type)}", 'write "command"', "type")
    if type == "command":
        command = hook.get("command")
        if not isinstance(command, str):
            yield Flaw(
                f"command is {kind(command)}, not a string" if "command" in hook else "the hook has no command",
                'add "command": "…"',
                "command" if "command" in hook else "",
            )
        elif not command.strip():
            yield Flaw("the command is empty", "write a command, or remove the hook", "command", alone=True)
    timeout = hook.get("timeout")
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, int) or not 0 <= timeout < 2**64
    ):
        yield Flaw(f"timeout is {shown(timeout)}, not a whole number of seconds", "write 10", "timeout")
    if not isinstance(hook.get("async", False), bool):
        yield Flaw(f"async is {kind(hook['async'])}, not true or false", "write true, or leave it out", "async")


DIALECT = Dialect(NAME, {}, _flaws, positive, bare_groups=True, null_matcher=True)


def matches(matcher: str, subject: str, event: str = "") -> bool:
    """Letters, digits, ``_`` and ``|`` make an exact list; anything else an unanchored regex, never if invalid."""
    if matcher in ("", "*"):
        return True
    names = (subject, "Edit", "Write") if subject == codex.PATCH else (subject,)
    if re.fullmatch(r"[A-Za-z0-9_|]*", matcher):
        return any(name in matcher.split("|") for name in names)
    return any(searches(matcher, name) for name in names)


def searches(pattern: str, subject: str) -> bool:
    """An unanchored, case-sensitive regex search; never for one that is invalid or absurdly long."""
    try:
        return len(pattern) < 10_000 and not re.search(PYTHON_ONLY, pattern) and bool(re.search(pattern, subject))
    except (re.error, RecursionError, OverflowError):
        return False


def subject_key(event: str) -> str:
    if event in _TOOL_EVENTS:
        return "tool_name"
    return "source" if event == "SessionStart" else ""


def longest_s(handler: Handler) -> float:
    return DEFAULT_TIMEOUT_S if handler.timeout_s is None else handler.timeout_s


def identity(handler: Handler) -> tuple[object, ...]:
    """Every copy runs (measured: four of four)."""
    return ((handler.file, handler.pointer), handler.type, handler.command)


def disabled(data: Mapping[str, Any]) -> bool:
    features = data.get("features")
    return isinstance(features, dict) and (features.get("hooks") is False or features.get("codex_hooks") is False)
