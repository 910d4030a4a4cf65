"""From the text of a settings file to its handlers, for the clients whose files have Claude Code's shape:
event → list of matcher groups → list of hooks.

The text is read leniently, so that a report can count what a strict client loses. What the client would stumble
over is a ``Problem``; which those are, and whether one takes the file with it or only itself, its ``Dialect`` says.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from overdeck.wiring.handler import Handler
from overdeck.wiring.jsonspans import JsonError, line_of, pointer, scan_leniently

LENIENT_CHARACTERS = 250_000
"""Broken JSON up to here, five times the largest file seen in public, is searched for what is still in it: the scanner
with spans takes seconds for a megabyte of brackets.
"""

MOST_PARTS = 20_000
"""Groups and hooks that are looked at in one file: a hundred times the largest seen, and a bound on a hostile one."""

GROUP = 'write {"matcher": "…", "hooks": [{"type": "command", "command": "…"}]}'


@dataclass(frozen=True)
class Problem:
    """What is wrong, where (JSON pointer), what to write instead, and the line if it is known.

    ``drops`` says whether the client drops the whole file for it. Where not, only what stands at ``pointer`` is
    lost, or the file is one that could not be read here.
    """

    reason: str
    pointer: str
    fix: str
    line: int | None = None
    drops: bool = True


class Flaw(NamedTuple):
    """What is wrong with one hook object; ``alone``: the client skips that hook and keeps the rest."""

    reason: str
    fix: str
    key: str = ""
    alone: bool = False


@dataclass(frozen=True)
class Dialect:
    """How one client reads that shape.

    ``targets`` maps a handler type to the key that says what it runs. ``flaws`` looks at one hook object;
    ``seconds`` turns its timeout into seconds, None where it has none that counts. ``alone``: the client skips
    a group or an event of the wrong shape and keeps the rest. ``bare_groups``: a group without a list of hooks is
    an empty one. ``null_matcher``: null is as good as no matcher. ``forgiven``, where not None: the events it knows;
    one that is no list costs only itself, and what stands under another name is never looked at.
    """

    client: str
    targets: Mapping[str, str]
    flaws: Callable[[dict[str, Any]], Iterator[Flaw]]
    seconds: Callable[[object], float | None]
    alone: bool = False
    bare_groups: bool = False
    null_matcher: bool = False
    forgiven: Collection[str] | None = None


def document(text: str, *, comments: bool = False, commas: bool = False) -> tuple[Any, list[Problem]]:
    """The parsed text, leniently where strict JSON fails, and what made it fail. A BOM is to be stripped before.

    ``comments`` and ``commas`` (before a closing bracket) are what the client allows beyond JSON.
    """
    if not text.strip():
        return {}, [Problem("it is not JSON: the file is empty", "", "write {} into it, or remove it", 1)]
    try:
        return json.loads(text, parse_constant=_no_constant), []
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
    if len(text) > LENIENT_CHARACTERS:
        where = f"at line {line}" if line else "where it is nested or numbered beyond reason"
        return None, [Problem("it is not JSON", "", f"mend the JSON {where}", line)]
    try:
        node, flaws = scan_leniently(text)
    except JsonError as error:
        line = line_of(text, error.at)
        return None, [Problem(f"it is not JSON: {error}", "", f"mend the JSON at line {line}", line)]
    allowed = {"a comment": comments, "a trailing comma": commas}
    return node.value, [
        Problem(f"{flaw.reason} is not JSON to the client", flaw.pointer, f"remove {flaw.reason}", flaw.line)
        for flaw in flaws
        if not allowed.get(flaw.reason, False)
    ]


class Walk:
    """Goes once over the events of one file, collecting handlers and problems."""

    def __init__(
        self, dialect: Dialect, path: Path, plugin: str = "", problems: list[Problem] | None = None
    ) -> None:
        self.dialect = dialect
        self.path = path
        self.plugin = plugin
        self.problems = [] if problems is None else problems
        self.found: list[Handler] = []
        self.left = MOST_PARTS

    @property
    def handlers(self) -> tuple[Handler, ...]:
        """What was found; all of it marked where a problem drops the file."""
        if any(problem.drops for problem in self.problems):
            return tuple(replace(handler, dropped=True) for handler in self.found)
        return tuple(self.found)

    @property
    def whole(self) -> bool:
        """Whether an event, or the table of them, of the wrong shape takes the file with it."""
        return not self.dialect.alone and self.dialect.forgiven is None

    def spent(self, *at: str) -> bool:
        """Whether enough was looked at; says so once."""
        self.left -= 1
        if self.left == -1:
            self.problem(
                f"the rest was not read: over {MOST_PARTS} groups and hooks", "write fewer", *at, drops=False
            )
        return self.left < 0

    def problem(self, reason: str, fix: str, *at: str, drops: bool = True) -> None:
        self.problems.append(Problem(reason, pointer(at), fix, drops=drops))

    def hooks(self, hooks: Any, *at: str) -> None:
        """The table of events."""
        if isinstance(hooks, dict):
            self.events(hooks, *at)
        else:
            fix = 'write "hooks": { EVENT: [ … ] }'
            self.problem(f"hooks is {kind(hooks)}, not an object", fix, *at, drops=self.whole)

    def events(self, events: Mapping[str, Any], *at: str) -> None:
        for event, groups in events.items():
            if self.spent(*at, event):
                return
            before = len(self.problems)
            unread = self.dialect.forgiven is not None and event not in self.dialect.forgiven
            if unread and not isinstance(groups, list):
                continue
            if not isinstance(groups, list):
                why = f"{event} is {kind(groups)}, not a list"
                self.problem(why, "wrap the group in [ ]", *at, event, drops=self.whole)
                continue
            for i, group in enumerate(groups):
                if self.spent(*at, event, str(i)):
                    return
                self.group(event, group, *at, event, str(i))
            if unread:
                del self.problems[before:]

    def group(self, event: str, group: Any, *at: str) -> None:
        if not isinstance(group, dict):
            self.misshapen(f"a matcher group is {kind(group)}, not an object", GROUP, *at)
            return
        lost = self.dialect.alone
        matcher = group.get("matcher", "")
        if matcher is None and self.dialect.null_matcher:
            matcher = ""
        if not isinstance(matcher, str):
            fix = "write a string, or leave it out"
            self.misshapen(f"matcher is {kind(matcher)}, not a string", fix, *at, "matcher")
            matcher = ""
        else:
            lost = False
        if "hooks" not in group:
            flat = "command" in group or "type" in group
            if flat or not self.dialect.bare_groups:
                drops = not self.dialect.alone and not self.dialect.bare_groups
                self.problem("there is no inner hooks list: a flat hook", GROUP, *at, drops=drops)
            if flat:
                self.handler(event, matcher, group, *at, lost=True)
        elif not isinstance(group["hooks"], list):
            self.misshapen(f"hooks is {kind(group['hooks'])}, not a list", GROUP, *at, "hooks")
        else:
            for i, hook in enumerate(group["hooks"]):
                if self.spent(*at, "hooks", str(i)):
                    return
                self.handler(event, matcher, hook, *at, "hooks", str(i), lost=lost)

    def handler(self, event: str, matcher: str, hook: Any, *at: str, lost: bool = False) -> None:
        """One hook; ``lost``: the client skips what it stands in, and only that."""
        if not isinstance(hook, dict):
            self.misshapen(f"a hook is {kind(hook)}, not an object", GROUP, *at)
            return
        for flaw in self.dialect.flaws(hook):
            inside = [flaw.key] if flaw.key else []
            self.problem(flaw.reason, flaw.fix, *at, *inside, drops=not flaw.alone)
            lost = lost or flaw.alone
        type = text(hook.get("type", "command"))
        target = hook.get(self.dialect.targets.get(type, "command"))
        args = hook.get("args")
        self.found.append(
            Handler(
                event=event,
                matcher=matcher,
                type=type or "command",
                command=text(target),
                args=tuple(text(word) for word in args) if isinstance(args, list) else None,
                timeout_s=self.dialect.seconds(hook.get("timeout")),
                pointer=pointer(at),
                file=self.path,
                shell=text(hook.get("shell")),
                condition=text(hook.get("if")),
                background=hook.get("async") is True,
                plugin=self.plugin,
                dropped=lost,
                client=self.dialect.client,
                once=hook.get("once") is True,
            )
        )

    def misshapen(self, reason: str, fix: str, *at: str) -> None:
        self.problem(reason, fix, *at, drops=not self.dialect.alone)


def positive(value: object) -> float | None:
    """A number above 0 as a float, one beyond every float as infinity; None for anything else, true included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def text(value: object) -> str:
    """A string as it is; a number in digits; nothing for what a client would not take for one."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def shown(value: object) -> str:
    """A value as a message names it: short, and never deep."""
    return kind(value) if isinstance(value, dict | list) else repr(value)[:60]


def kind(value: object) -> str:
    """What a value is, in JSON's words."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
