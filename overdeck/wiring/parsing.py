"""From a settings file's text to its handlers, and to what makes Claude Code 2.1.197 drop the file.

What the client does is measured (contract/FACTS.md, 0.1): one wrong type anywhere makes it drop the whole
file in silence. The text is read leniently all the same, so that a report can count what is lost.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from overdeck.dispatch import matchers
from overdeck.wiring.handler import Handler
from overdeck.wiring.jsonspans import JsonError, line_of, pointer, scan_leniently

TYPES = ("command", "http", "prompt", "agent", "mcp_tool")
"""The handler types the client knows; any other makes it drop the file."""

_GROUP = 'write {"matcher": "…", "hooks": [{"type": "command", "command": "…"}]}'
_TARGET = {"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt", "mcp_tool": "tool"}


@dataclass(frozen=True)
class Problem:
    """Why the client drops the file: what is wrong, where (JSON pointer), what to write instead, and the line
    if it is known.
    """

    reason: str
    pointer: str
    fix: str
    line: int | None = None


def parse(text: str, path: Path, plugin: str) -> tuple[dict[str, Any], list[Handler], list[Problem]]:
    """The top level, the handlers and the problems of a settings file's text, its BOM stripped.

    ``plugin`` is the plugin's folder for a hooks.json, whose rules are stricter; else empty.
    """
    data, problems = _document(text)
    if not isinstance(data, dict):
        return {}, [], problems or [Problem("the top level is not an object", "", "make it one: { … }")]
    reader = _Reader(path, plugin)
    reader.top(data)
    return data, reader.handlers, problems + reader.problems


def _document(text: str) -> tuple[Any, list[Problem]]:
    """The parsed text, leniently where strict JSON fails, and what made it fail."""
    if not text.strip():
        return {}, [Problem("it is not JSON: the file is empty", "", "write {} into it, or remove it", 1)]
    try:
        return json.loads(text, parse_constant=_no_constant), []
    except (ValueError, RecursionError):
        pass
    try:
        node, flaws = scan_leniently(text)
    except JsonError as error:
        line = line_of(text, error.at)
        return None, [Problem(f"it is not JSON: {error}", "", f"mend the JSON at line {line}", line)]
    return node.value, [
        Problem(f"{flaw.reason} is not JSON to the client", flaw.pointer, f"remove {flaw.reason}", flaw.line)
        for flaw in flaws
    ]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class _Reader:
    """Walks the parsed top level once, collecting handlers and what the client would stumble over."""

    def __init__(self, path: Path, plugin: str) -> None:
        self.path = path
        self.plugin = plugin
        self.handlers: list[Handler] = []
        self.problems: list[Problem] = []

    def problem(self, reason: str, fix: str, *parts: str) -> None:
        self.problems.append(Problem(reason, pointer(parts), fix))

    def top(self, data: dict[str, Any]) -> None:
        if self.plugin:
            if "hooks" not in data:
                self.problem('a plugin file needs the {"hooks": …} wrapper', 'put the events under "hooks"')
                self.events({key: value for key, value in data.items() if isinstance(value, list)})
        else:
            self.unrelated(data)
        if "hooks" in data:
            if isinstance(data["hooks"], dict):
                self.events(data["hooks"], "hooks")
            else:
                self.problem(
                    f"hooks is {_kind(data['hooks'])}, not an object", 'write "hooks": { EVENT: [ … ] }', "hooks"
                )

    def unrelated(self, data: dict[str, Any]) -> None:
        model = data.get("model")
        if model is not None and not isinstance(model, str):
            self.problem(f"model is {_kind(model)}, not a string", "write the model's name as a string", "model")
        if "permissions" not in data:
            return
        permissions = data["permissions"]
        if not isinstance(permissions, dict):
            self.problem(
                f"permissions is {_kind(permissions)}, not an object", "write an object with lists", "permissions"
            )
            return
        for name in ("allow", "deny", "ask"):
            rules = permissions.get(name, [])
            if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
                self.problem(
                    f"permissions.{name} is not a list of strings", 'write ["RULE", …]', "permissions", name
                )

    def events(self, events: dict[str, Any], *at: str) -> None:
        for event, groups in events.items():
            if self.plugin and event not in matchers.CLAUDE_EVENTS:
                self.problem(f"a plugin file names {event!r}, which is no event", "remove it", *at, event)
            if not isinstance(groups, list):
                self.problem(f"{event} is {_kind(groups)}, not a list", "wrap the group in [ ]", *at, event)
                continue
            for i, group in enumerate(groups):
                self.group(event, group, *at, event, str(i))

    def group(self, event: str, group: Any, *at: str) -> None:
        if not isinstance(group, dict):
            self.problem(f"a matcher group is {_kind(group)}, not an object", _GROUP, *at)
            return
        matcher = group.get("matcher", "")
        if not isinstance(matcher, str):
            self.problem(
                f"matcher is {_kind(matcher)}, not a string", "write a string, or leave it out", *at, "matcher"
            )
            matcher = ""
        if "hooks" not in group:
            self.problem("there is no inner hooks list: a flat hook", _GROUP, *at)
            if "command" in group or "type" in group:
                self.handler(event, matcher, group, *at)
        elif not isinstance(group["hooks"], list):
            self.problem(f"hooks is {_kind(group['hooks'])}, not a list", _GROUP, *at, "hooks")
        else:
            for i, hook in enumerate(group["hooks"]):
                self.handler(event, matcher, hook, *at, "hooks", str(i))

    def handler(self, event: str, matcher: str, hook: Any, *at: str) -> None:
        if not isinstance(hook, dict):
            self.problem(f"a hook is {_kind(hook)}, not an object", _GROUP, *at)
            return
        kind = hook.get("type")
        for reason, fix, *inside in _flaws(hook):
            self.problem(reason, fix, *at, *inside)
        timeout = hook.get("timeout")
        target = hook.get(_TARGET.get(str(kind), "command"))
        args = hook.get("args")
        self.handlers.append(
            Handler(
                event=event,
                matcher=matcher,
                type=kind if isinstance(kind, str) else "command",
                command=target if isinstance(target, str) else "",
                args=tuple(str(word) for word in args) if isinstance(args, list) else None,
                timeout_s=_seconds(timeout),
                pointer=pointer(at),
                file=self.path,
                shell=str(hook.get("shell", "")),
                condition=str(hook.get("if", "")),
                background=hook.get("async") is True,
                plugin=self.plugin,
            )
        )


def _flaws(hook: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """What in one hook object makes the client drop the file: (reason, fix, key where there is one)."""
    kind = hook.get("type")
    if "type" not in hook:
        yield "the hook has no type", 'add "type": "command"'
    elif kind not in TYPES:
        yield f"unknown hook type {kind!r}", f"write one of {', '.join(TYPES)}", "type"
    if kind == "command":
        if "command" not in hook:
            yield "the hook has no command", 'add "command": "…", or remove the hook'
        elif not isinstance(hook["command"], str):
            yield f"command is {_kind(hook['command'])}, not a string", "write a string", "command"
        args = hook.get("args", [])
        if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
            yield "args is not a list of strings", 'write ["…", "…"]', "args"
    if "timeout" in hook and _seconds(hook["timeout"]) is None:
        shown = json.dumps(hook["timeout"])[:40]
        yield f"timeout is {shown}, not a number above 0", "write seconds as a number: 10", "timeout"


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
