"""Rules about keys: those that mean nothing where they stand, and those that switch hooks off."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from overdeck.dispatch.clients import TOOL_EVENTS
from overdeck.wiring.rules.rule import DOCS, Context, Hit, Rule, group_of, raw_at

HANDLER_KEYS = (
    "type", "command", "args", "timeout", "shell", "async", "asyncRewake", "if", "once", "statusMessage", "url",
    "headers", "allowedEnvVars", "prompt", "model", "server", "tool", "input", "continueOnBlock", "rewakeMessage",
    "rewakeSummary",
)  # fmt: skip
"""What a hook may say, in all types. Any other key is tolerated and means nothing (FACTS 0.1)."""

GROUP_KEYS = ("matcher", "hooks")

_NOTES = frozenset({"description", "comment", "comments", "_comment", "$comment", "id", "name", "notes", "note",
                    "title", "tools", "inputs", "hook", "enabled", "disabled", "priority", "interval"})  # fmt: skip
_MEANT = {"timeoutms": "timeout", "timeoutseconds": "timeout", "timeoutsec": "timeout", "timeouts": "timeout",
          "cmd": "command", "commands": "command", "run": "command", "script": "command", "background": "async",
          "matchers": "matcher", "match": "matcher", "condition": "if", "when": "if", "arguments": "args",
          "argv": "args", "tool_name": "matcher", "toolname": "matcher", "pattern": "matcher"}  # fmt: skip
_MANAGED = "managed"


def meant(key: str, known: tuple[str, ...], present: "set[str]") -> str:
    """The known key that an unknown one was meant for; empty where it may be a note of the author's own.

    >>> meant("timeOut", HANDLER_KEYS, {"type"}), meant("description", HANDLER_KEYS, {"type"})
    ('timeout', '')
    """
    if key in known or key in _NOTES:
        return ""
    plain = key.replace("_", "").replace("-", "").lower()
    by_case = {name.lower(): name for name in known}
    close = get_close_matches(plain, by_case, n=1, cutoff=0.85)
    name = by_case[close[0]] if close else _MEANT.get(plain, _MEANT.get(key.lower(), ""))
    return name if name in known and name not in present else ""


def _unknown_key(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        yield from _strangers(file.path, handler.pointer, raw_at(file, handler.pointer), HANDLER_KEYS)
    for file, handler in context.matchers():
        group = group_of(handler)
        if group != handler.pointer:
            yield from _strangers(file.path, group, raw_at(file, group), GROUP_KEYS)


def _strangers(path: Path, pointer: str, value: object, known: tuple[str, ...]) -> Iterator[Hit]:
    if not isinstance(value, dict):
        return
    for key in value:
        name = meant(key, known, set(value))
        if name:
            yield Hit(
                path,
                f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}",
                f"the client knows no key {key!r} here and goes on without it",
                f"write {name!r}",
            )


def _once(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if file.scope == "skill" or file.path.name == "SKILL.md" or file.plugin_root is not None:
            continue
        value = raw_at(file, handler.pointer)
        if isinstance(value, dict) and value.get("once") is True:
            yield Hit(
                file.path,
                handler.pointer + "/once",
                "once is heeded in the front matter of a skill only: here the hook runs every time",
                "remove once, and keep a mark of your own, or move the hook to the skill it is for",
            )


def _if_elsewhere(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if handler.condition and handler.event not in TOOL_EVENTS:
            yield Hit(
                file.path,
                handler.pointer + "/if",
                f"if is weighed on tool events only: on {handler.event} a hook that has one never runs",
                "remove if, and test inside the hook",
            )


def _managed_only(context: Context) -> Iterator[Hit]:
    on = [file for file in context.files if file.data.get("allowManagedHooksOnly") is True and not file.dropped]
    managed = [file for file in on if file.scope == _MANAGED or file.path.name == "managed-settings.json"]
    for file in on:
        if file in managed:
            others = [other for other in context.files if other.client == "claude" and other not in managed]
            count = sum(len(other.all_handlers) for other in others if other.scope != _MANAGED)
            if count:
                yield Hit(
                    file.path,
                    "/allowManagedHooksOnly",
                    f"only hooks of managed settings run: {count} handlers of {len(others)} other files never do",
                    "remove those hooks, or have them put into the managed settings",
                )
        elif file.scope or file.path.name.startswith("settings"):
            yield Hit(
                file.path,
                "/allowManagedHooksOnly",
                "allowManagedHooksOnly is heeded in managed settings only: here it switches nothing off",
                "remove it, or put it into managed-settings.json; disableAllHooks is what a user's file can say",
            )


def _args_ignored(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers("codex"):
        if handler.args:
            yield Hit(
                file.path,
                handler.pointer + "/args",
                "Codex knows no args: the command is run without them",
                "write the whole command line into command",
            )


UNKNOWN_KEY = Rule(
    "unknown-key",
    "warning",
    f"measured: unknown keys are tolerated (FACTS 0.1); their names: {DOCS}",
    _unknown_key,
)
ONCE = Rule("once-in-settings", "warning", f"{DOCS}: once", _once)
IF_ELSEWHERE = Rule("if-not-on-a-tool", "error", f"{DOCS}: if", _if_elsewhere)
MANAGED_ONLY = Rule("managed-hooks-only", "warning", f"{DOCS}: allowManagedHooksOnly", _managed_only)
ARGS_IGNORED = Rule(
    "args-ignored", "error", "measured: args ignored (FACTS 5)", _args_ignored, ("codex",), "codex-cli 0.171.0"
)
