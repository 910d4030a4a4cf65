"""One module.toml, read and checked.

Used by the CLI, and by the call that finds its plan stale.
"""

from __future__ import annotations

import posix

from overdeck.dispatch import clients, matchers, ruletables
from overdeck.dispatch.eventlog import TOPICS
from overdeck.dispatch.plan import CLASSES, NATIVE_FIELDS, slurp, trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFAULT_TIMEOUT_MS = 1000
DEFAULT_LIFETIME_DAYS = 7
MAX_LITERAL = 64
"""Letters; the limits of the native front (native/plan.h), which must read every plan that is made."""
_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_ID = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_KEYS = {
    "id",
    "pack",
    "summary",
    "class",
    "main_only",
    "timeout_ms",
    "literals",
    "literals_in",
    "events",
    "zero_fire",
    "background",
    "config",
    "native",
    "rules",
    "rules_of",
    "memory_mb",
    "cpu_s",
    "adopted",
}


MAX_TIMEOUT_MS = 60_000
MAX_ADOPTED_TIMEOUT_MS = 600_000
"""A client's hook may take ten minutes where it names no timeout; the native front waits no longer (native/plan.c)."""
_ADOPTED_KEYS: dict[str, type] = {
    "file": str,
    "command": list,
    "shell": str,
    "project": str,
    "script": str,
    "real": str,
    "argv0": str,
    "args": list,
    "python": str,
    "executable": str,
    "path": list,
    "sitecustomize": bool,
    "unbuffered": bool,
}


class ManifestError(Exception):
    """A module.toml or the config cannot be used; ``path`` names the file."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class Manifest:
    """One module.toml, checked. ``config`` is the manifest's defaults overlaid by the user's table.

    ``lifetime_days`` None means silence never makes it suspect (``"never"``). ``rule_keys`` are the keys of a
    rule, where it has rules (ruletables.py): of their tables, ``rules``, ``config["rules"]`` and the literals are made;
    ``rules_on`` are the names of those in force.
    """

    __slots__ = (
        "background",
        "cls",
        "config",
        "cpu_s",
        "events",
        "folder",
        "id",
        "lifetime_days",
        "literals",
        "literals_in_payload",
        "main_only",
        "memory_mb",
        "native",
        "pack",
        "prompt_literals",
        "rule_keys",
        "rules",
        "rules_of",
        "rules_on",
        "summary",
        "timeout_ms",
        "user",
    )

    def __init__(self, folder: str, user: bool) -> None:
        self.folder = folder
        self.user = user
        self.id = self.pack = self.summary = self.cls = ""
        self.main_only = self.background = self.literals_in_payload = False
        self.timeout_ms = DEFAULT_TIMEOUT_MS
        self.literals: list[str] = []
        self.events: dict[str, str] = {}
        self.lifetime_days: int | None = DEFAULT_LIFETIME_DAYS
        self.config: dict[str, object] = {}
        self.native: list[str] | None = None
        self.memory_mb = self.cpu_s = 0
        self.rule_keys: list[str] | None = None
        self.rules: dict[str, Any] = {}
        self.rules_of = ""
        self.rules_on: list[str] = []
        self.prompt_literals: list[str] = []

    def literals_at(self, event: str) -> tuple[list[str], bool] | None:
        """The literals of a call of ``event`` and whether they are looked for in the whole payload.

        None where no rule is about this event: then the module has nothing to say.
        """
        if self.rule_keys is None:
            return self.literals, self.literals_in_payload
        found = (self.literals, False) if event in clients.TOOL_EVENTS else (self.prompt_literals, True)
        return found if found[0] else None

    def lay(self, tables: dict[str, Any], path: str) -> None:
        """Lay rules over the manifest's own and compile them; raises ManifestError, about the file at ``path``."""
        self.rules = ruletables.overlaid(self.rules, tables)
        keys = self.rule_keys or []
        needed = [key for key in keys if key[-1:] != "?"]
        mine = self.rules
        if self.rules_of:
            mine = {name: rule for name, rule in mine.items() if isinstance(rule, dict) and {*needed} <= {*rule}}
        try:
            compiled = ruletables.compiled(mine, keys)
        except ValueError as error:
            raise ManifestError(path, f"[modules.{self.id}] {error}") from None
        for word in (*compiled.input_literals, *compiled.prompt_literals):
            if len(word) > MAX_LITERAL:
                raise ManifestError(path, f"[modules.{self.id}] {word!r} is longer than {MAX_LITERAL} letters")
        self.config = {**self.config, "rules": compiled.rules}
        self.rules_on = [rule["name"] for rule in compiled.rules]
        self.literals, self.prompt_literals = compiled.input_literals, compiled.prompt_literals

    @property
    def path(self) -> str:
        return self.folder + "/module.toml"

    @property
    def code(self) -> str:
        """The file its code is in; empty for an adopted hook that is no Python script."""
        return str(self.config.get("script", "")) if self.cls == "adopted" else self.folder + "/module.py"


def read_manifest(folder: str, *, user: bool = False) -> Manifest:
    """Read and check ``folder``/module.toml; raises ManifestError with the reason."""
    manifest = Manifest(folder, user)
    path = manifest.path
    table = read_toml(path)
    for piece in (folder,) if "native" in table or "adopted" in table else (folder, manifest.code):
        distrust = trusted(piece)
        if distrust:
            raise ManifestError(path, distrust)
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        raise ManifestError(path, f"unknown key {unknown[0]!r}")
    id = table.get("id")
    if not isinstance(id, str) or not id or not all(letter in _ID for letter in id):
        raise ManifestError(path, "id must be lower-case letters, digits and '-'")
    if id != folder.rpartition("/")[2]:
        raise ManifestError(path, f"id {id!r} is not the name of its folder")
    manifest.id = id
    manifest.pack = _text(table, "pack", path, "user" if user else "")
    manifest.summary = _text(table, "summary", path, "")
    manifest.cls = _text(table, "class", path, "")
    if "adopted" in table and manifest.cls != "adopted":
        raise ManifestError(path, 'an [adopted] table is for class = "adopted"')
    if manifest.cls not in CLASSES:
        raise ManifestError(path, f"class must be one of {', '.join(CLASSES)}")
    manifest.main_only = _flag(table, "main_only", path)
    manifest.background = _flag(table, "background", path)
    longest = MAX_ADOPTED_TIMEOUT_MS if manifest.cls == "adopted" else MAX_TIMEOUT_MS
    manifest.timeout_ms = _number(table, "timeout_ms", path, DEFAULT_TIMEOUT_MS, 1, longest)
    manifest.memory_mb = _number(table, "memory_mb", path, 0, 32, 1 << 20)
    manifest.cpu_s = _number(table, "cpu_s", path, 0, 1, 60)
    literals = table.get("literals", [])
    if not strings(literals) or ("literals" in table and not literals):
        raise ManifestError(path, "literals must be a list of words; leave it out to run always")
    for word in literals:
        if not word or not all(letter in _WORD for letter in word):
            raise ManifestError(path, f"literal {word!r} is not one word of [A-Za-z0-9_.-]")
        if len(word) > MAX_LITERAL:
            raise ManifestError(path, f"literal {word!r} is longer than {MAX_LITERAL} letters")
    manifest.literals = literals
    where = table.get("literals_in", "tool_input")
    if where not in ("tool_input", "payload"):
        raise ManifestError(path, 'literals_in must be "tool_input" or "payload"')
    manifest.literals_in_payload = where == "payload"
    manifest.events = _events(table, path)
    manifest.lifetime_days = _lifetime(table, path)
    config = table.get("config", {})
    if not isinstance(config, dict):
        raise ManifestError(path, "[config] must be a table")
    manifest.config = _adopted(table, manifest.cls, path) if manifest.cls == "adopted" else config
    manifest.native = _native(table, manifest.cls, path)
    if "rules" in table or "rules_of" in table:
        _rules(manifest, table, path)
    return manifest


def _rules(manifest: Manifest, table: dict[str, Any], path: str) -> None:
    keys = table.get("rules")
    if not strings(keys) or not {key.removesuffix("?") for key in keys or []} <= set(ruletables.KEYS):
        raise ManifestError(
            path, f"rules must list some of {', '.join(ruletables.KEYS)}; '?' behind one that may miss"
        )
    if "literals" in table or "literals_in" in table:
        raise ManifestError(path, "the literals of a module with rules are taken from its rules")
    rules = manifest.config.get("rules", {})
    if not isinstance(rules, dict):
        raise ManifestError(path, "[config.rules] must be a table")
    manifest.rule_keys = keys
    manifest.rules_of = _text(table, "rules_of", path, "")
    manifest.lay(rules, path)


def _events(table: dict[str, Any], path: str) -> dict[str, str]:
    events = table.get("events")
    if not isinstance(events, dict) or not events:
        raise ManifestError(path, "[events] must name at least one event and its matcher")
    for event, matcher in events.items():
        if event not in matchers.CLAUDE_EVENTS:
            raise ManifestError(path, f"unknown event {event!r}")
        if not isinstance(matcher, str):
            raise ManifestError(path, f"the matcher of {event} must be a string")
        if matcher not in ("", "*") and not clients.subject_key(event):
            raise ManifestError(path, f'a module has no matcher at {event}: write {event} = "*"')
        if not matchers.is_exact(matcher) and not _compiles(matcher):
            raise ManifestError(path, f"the matcher of {event} is not a regex: it would never match")
        if matchers.routes(event, matcher) == ["-"]:
            raise ManifestError(path, f"the matcher of {event} names nothing")
    return events


def _adopted(table: dict[str, Any], cls: str, path: str) -> dict[str, object]:
    """What an adopted hook starts; its plan carries this where other modules have their config."""
    adopted = table.get("adopted")
    if not isinstance(adopted, dict) or "config" in table or "native" in table or "literals" in table:
        raise ManifestError(
            path, "an adopted hook has an [adopted] table, and neither config, native nor literals"
        )
    unknown = sorted(set(adopted) - set(_ADOPTED_KEYS))
    if unknown:
        raise ManifestError(path, f"[adopted] has an unknown key {unknown[0]!r}")
    for key, kind in _ADOPTED_KEYS.items():
        value = adopted.get(key, kind())
        if type(value) is not kind or (kind is list and not strings(value)):
            raise ManifestError(path, f"[adopted] {key} must be a {kind.__name__}")
    if not (isinstance(adopted.get("shell"), str) or adopted.get("command")):
        raise ManifestError(path, "[adopted] needs shell (a line) or command (a list of words)")
    script = adopted.get("script", "")
    if script and not (
        script.startswith("/") and {"python", "executable", "argv0", "args", "path", "real"} <= set(adopted)
    ):
        raise ManifestError(
            path, "[adopted] script must be absolute, with python, executable, argv0, args, path, real"
        )
    return adopted


def _native(table: dict[str, Any], cls: str, path: str) -> list[str] | None:
    fields = table.get("native")
    if fields is None:
        return None
    if cls != "observer":
        raise ManifestError(path, "native is for observers: only Python can decide something")
    known = ("type", *NATIVE_FIELDS)
    if not strings(fields) or not fields or not set(fields) <= set(known):
        raise ManifestError(path, f"native must list some of {', '.join(known)}")
    if {"type", "id"} <= set(fields):
        raise ManifestError(path, "the event log is no spool: native lists either type or id")
    untold = sorted(set(table["events"]) - set(TOPICS)) if "type" in fields else []
    if untold:
        raise ManifestError(path, f"{untold[0]} has no type in the event log: {', '.join(TOPICS)} have")
    if "literals" in table:
        raise ManifestError(path, "a native observer logs every call it is asked; literals would be ignored")
    return list(fields)


def _compiles(pattern: str) -> bool:
    import re

    if pattern == "*":
        return True
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return re.search(matchers.PYTHON_ONLY, pattern) is None


def _lifetime(table: dict[str, Any], path: str) -> int | None:
    zero_fire = table.get("zero_fire", {})
    days = zero_fire.get("lifetime_days", DEFAULT_LIFETIME_DAYS) if isinstance(zero_fire, dict) else None
    if days == "never":
        return None
    if isinstance(days, bool) or not isinstance(days, int) or days < 1:
        raise ManifestError(path, 'zero_fire.lifetime_days must be a number of days or "never"')
    return days


def _text(table: dict[str, Any], key: str, path: str, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise ManifestError(path, f"{key} must be a string")
    return value


def _number(table: dict[str, Any], key: str, path: str, default: int, least: int, most: int) -> int:
    value = table.get(key, default)
    if key in table and (isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most):
        raise ManifestError(path, f"{key} must be a whole number from {least} to {most}")
    return int(value)


def _flag(table: dict[str, Any], key: str, path: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ManifestError(path, f"{key} must be true or false")
    return value


def read_toml(path: str) -> dict[str, Any]:
    """A TOML file of ours; raises ManifestError where it cannot be trusted, read or parsed."""
    import tomllib

    distrust = trusted(path)
    if distrust:
        raise ManifestError(path, distrust)
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            return tomllib.loads(slurp(fd).decode("utf-8"))
        finally:
            posix.close(fd)
    except OSError as error:
        raise ManifestError(path, error.strerror or "cannot be read") from None
    except UnicodeDecodeError:
        raise ManifestError(path, "it is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(path, f"it is not TOML: {error}") from None


def strings(value: object) -> bool:
    """Whether ``value`` is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
