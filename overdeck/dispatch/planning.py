"""The user's config and the manifests, made into the plan of one event (INTERFACES.md, "The plan").

Used by the CLI, and by the call that finds its plan stale.
"""

from __future__ import annotations

import posix

from overdeck.dispatch import bundle, clients, eventlog
from overdeck.dispatch.dialects import routing
from overdeck.dispatch.manifest import Manifest, ManifestError, check_plain, read_manifest, read_toml, strings
from overdeck.dispatch.plan import (
    DEFAULT_TOTAL_MS,
    MAX_TOTAL_MS,
    NATIVE_FIELDS,
    NATIVE_MORE,
    Module,
    Native,
    Plan,
    PlanError,
    digest,
    opened,
    parse,
    read_plan,
    slurp,
    stamp,
    trusted,
    unsealed,
)
from overdeck.dispatch.writing import one_line, replace, sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECIPE = "recipe"
"""The file in a client's plan folder from which every plan there can be made again."""

LOCK = ".lock"
"""Beside it: whoever writes plans holds it, so that those of two recipes are never mixed."""
DEFAULT_PACKS = ["guards"]
MAX_MODULES = 512
MAX_LITERALS = 8192
"""For one event; the native front (native/plan.h) has room for so many."""
DEFAULT_NATIVE_BYTES = 16 << 20
SPOOL_BYTES = 64 << 20
"""Of lines that nobody has replayed; then no more are taken."""
_RECIPE_HEADER = "overdeck-recipe 1"
_KINDS = {
    bool: "true or false", int: "a whole number", float: "a number", str: "a text", list: "a list", dict: "a table",
}  # fmt: skip
_CONFIG_KEYS = {"packs", "modules", "clients", "telemetry", "plugins"}


class Recipe:
    """What the plans of one client are made from. Paths absolute; ``shipped`` and ``user`` are module folders.

    ``version`` is the Overdeck that wrote it, empty where it did not say (updatecheck.py compares).
    """

    __slots__ = (
        "calls",
        "client",
        "config",
        "entry",
        "fires",
        "plans",
        "python",
        "shipped",
        "state",
        "total_deadline_ms",
        "user",
        "version",
    )

    def __init__(self, **fields: Any) -> None:
        self.client: str = fields["client"]
        self.plans: str = fields["plans"]
        self.python: str = fields["python"]
        self.entry: str = fields["entry"]
        self.state: str = fields["state"]
        self.config: str = fields["config"]
        self.shipped: str = fields["shipped"]
        self.user: str = fields["user"]
        self.fires: str = fields["fires"]
        self.calls: str = fields["calls"]
        self.total_deadline_ms: int = fields.get("total_deadline_ms", DEFAULT_TOTAL_MS)
        self.version: str = fields.get("version", "")

    def encode(self) -> bytes:
        """Line text with a crc, like a plan: the native front reads it where there is no plan."""
        return sealed(_RECIPE_HEADER, [f"{key} {one_line(str(getattr(self, key)))}" for key in self.__slots__])

    @classmethod
    def load(cls, plans: str) -> Recipe:
        """The recipe of a plan folder; raises PlanError where it is missing, not ours or broken."""
        path = f"{plans}/{RECIPE}"
        try:
            lines, _, _ = unsealed(read_plan(path), _RECIPE_HEADER)
            fields: dict[str, Any] = dict(line.split(" ", 1) for line in lines)
            return cls(**{**fields, "total_deadline_ms": int(fields["total_deadline_ms"])})
        except (ValueError, KeyError) as error:
            raise PlanError(f"{path}: {error}") from None


class Fleet:
    """Every module found, and what is on. ``problems`` are manifests that could not be read."""

    __slots__ = ("config", "enabled", "found", "problems", "sources")

    def __init__(self) -> None:
        self.found: list[Manifest] = []
        self.enabled: list[Manifest] = []
        self.problems: list[ManifestError] = []
        self.sources: list[tuple[int, int, int, str]] = []
        self.config: dict[str, Any] = {}


def load(recipe: Recipe) -> Fleet:
    """Read config and manifests. ``enabled`` is in manifest order: packs as the config lists them, user modules
    last, then by id. Never raises for a single bad manifest: it is in ``problems``. Raises ManifestError where
    the config itself cannot be read: which modules are on is then unknown.
    """
    fleet = Fleet()
    # Stamped before it is read: what changes while we read makes the plan stale, instead of being believed old.
    fleet.sources = [(*stamp(path), path) for path in (recipe.config, recipe.shipped, recipe.user, recipe.python)]
    folders = {root: _folders(root, optional=root == recipe.user) for root in (recipe.shipped, recipe.user)}
    fleet.sources += [
        (*stamp(path), path)
        for found in folders.values()
        for path in (f"{folder}/module.toml" for folder in found)
    ]
    fleet.config = _config(recipe.config)
    unknown = sorted(set(fleet.config) - _CONFIG_KEYS)
    if unknown:
        raise ManifestError(
            recipe.config, f"unknown key {unknown[0]!r}: it knows {', '.join(sorted(_CONFIG_KEYS))}"
        )
    packs = fleet.config.get("packs", DEFAULT_PACKS)
    tables = fleet.config.get("modules", {})
    if not strings(packs):
        raise ManifestError(recipe.config, "packs must be a list of names")
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ManifestError(recipe.config, "[modules.ID] must be tables")
    seen: dict[str, str] = {}
    known_packs = set()
    for root, user in ((recipe.shipped, False), (recipe.user, True)):
        for folder in folders[root]:
            try:
                manifest = read_manifest(folder, user=user)
                if manifest.id in seen:
                    raise ManifestError(manifest.path, f"the id {manifest.id!r} is taken by {seen[manifest.id]}")
                seen[manifest.id] = folder
                known_packs.add(manifest.pack)
                if manifest.cls != "adopted" and manifest.timeout_ms > recipe.total_deadline_ms:
                    together = f"the {recipe.total_deadline_ms} ms that all modules of a call have together"
                    raise ManifestError(manifest.path, f"timeout_ms is over {together}")
                overlay(manifest, tables.get(manifest.id, {}), recipe.config)
            except ManifestError as problem:
                fleet.problems.append(problem)
                continue
            fleet.found.append(manifest)
    _share_rules(fleet, recipe.config)
    if not fleet.problems:
        # A pack that no module is in is a typo, and a typo must not switch its gates off.
        strange = sorted(set(packs) - known_packs)
        if strange:
            raise ManifestError(
                recipe.config,
                f"no module is in the pack {strange[0]!r}: there are {', '.join(sorted(known_packs))}",
            )
    on = [m for m in fleet.found if tables.get(m.id, {}).get("enabled", True) and (m.user or m.pack in packs)]
    on.sort(key=lambda m: (len(packs) if m.user else packs.index(m.pack), m.id))
    fleet.enabled = on
    # A stat at every call for each: what ships and is off changes with an upgrade only, which changes what is on, too.
    needed = {m.id for m in on} | {m.rules_of for m in on}
    off = {m.path for m in fleet.found if not m.user and m.id not in needed}
    fleet.sources = [source for source in fleet.sources if source[3] not in off]
    for id in tables:
        if id not in seen and not any(problem.path.endswith(f"/{id}/module.toml") for problem in fleet.problems):
            fleet.problems.append(ManifestError(recipe.config, f"[modules.{id}] names no module"))
    return fleet


def compile_plan(recipe: Recipe, fleet: Fleet, event: str) -> Plan:
    """The plan of one event from what ``load`` found."""
    plan = Plan()
    plan.client, plan.event = recipe.client, event
    plan.python, plan.entry, plan.state = recipe.python, recipe.entry, recipe.state
    plan.fires, plan.calls = recipe.fires, recipe.calls
    plan.total_deadline_ms = recipe.total_deadline_ms
    plan.sources = list(fleet.sources)
    plan.named = routing.own_event(recipe.client, event)
    plan.named = "" if plan.named == event else plan.named
    abroad = recipe.client != "claude"
    for manifest in fleet.enabled:
        if event not in manifest.events or (abroad and manifest.cls == "adopted"):
            continue  # an adopted hook speaks Claude's language only
        if not routing.is_told(recipe.client, event, manifest.native):
            continue
        literals = manifest.literals_at(event)
        if literals is None:
            continue
        matcher = manifest.events[event]
        module = Module(
            manifest.id,
            manifest.cls,
            routing.routes(recipe.client, event, matcher),
            main_only=manifest.main_only,
            background=manifest.background,
            literals_in_payload=literals[1],
            # a payload that is another client's may say the same in other words
            literals=[] if abroad and literals[1] else literals[0],
            matcher=matcher,
            folder=manifest.folder,
            timeout_ms=manifest.timeout_ms,
            config=manifest.config,
        )
        module.memory_mb, module.cpu_s = manifest.memory_mb, manifest.cpu_s
        module.imports = _imports(manifest.code) if manifest.native is None and manifest.code else []
        if manifest.cls == "adopted":
            plan.total_deadline_ms = max(plan.total_deadline_ms, min(manifest.timeout_ms, MAX_TOTAL_MS))
            if manifest.code:
                plan.sources.append((*stamp(manifest.code), manifest.code))
        if manifest.native is not None:
            module.native = _native(recipe, manifest, event)
        plan.modules.append(module)
    plan.modules += routing.sentinels(recipe.client, event, plan.modules)
    if len(plan.modules) > MAX_MODULES or sum(len(m.literals) for m in plan.modules) > MAX_LITERALS:
        raise PlanError(f"{event} has more than {MAX_MODULES} modules or {MAX_LITERALS} literals")
    return plan


def _native(recipe: Recipe, manifest: Manifest, event: str) -> Native:
    """What the front logs for an observer: in a file of its own, or typed lines in the event log of all."""
    asked_for = [*(manifest.native or []), *_more(manifest.config)]
    fields = [name for name in NATIVE_FIELDS if name in asked_for]
    if "type" not in asked_for:
        name, most = ("spool", SPOOL_BYTES) if "id" in asked_for else ("journal", DEFAULT_NATIVE_BYTES)
        return Native(fields, most, f"{recipe.state}/modules/{manifest.id}/{name}.jsonl")
    never = {*([] if clients.subject_key(event) else ["tool"]), *([] if event == "StopFailure" else ["error"])}
    named = [f"type={eventlog.TOPICS[event]}", *(name for name in fields if name not in never)]
    return Native(named, eventlog.MAX_BYTES, f"{recipe.state}/events.jsonl")


def write_plan(recipe: Recipe, plan: Plan, *, reuse: bool = False) -> str:
    """Write one plan and its copy by crc (old call lines stay readable); returns its path. Raises OSError.

    With it go the bundle of the dispatcher and the compiled code of the modules, which only save time; with ``reuse``
    those that are there and whole are taken as they are (bundle.py).
    """
    _make_folder(f"{recipe.plans}/history")
    _make_folder(f"{recipe.plans}/code")
    plan.bundle = bundle.build(recipe.entry, recipe.plans, recipe.client, reuse=reuse)
    for module in plan.modules:
        if module.native is None and module.source:
            try:
                module.code, module.code_stamp = bundle.keep_code(module.source, recipe.plans, reuse=reuse)
            except (OSError, SyntaxError, ValueError):
                continue  # it fails when it is run, in its own name
    raw = plan.encode()
    plan.crc = parse(raw).crc
    _make_folder(f"{recipe.state}/errors")
    for module in plan.modules:
        if module.native is not None:
            _make_folder(module.native.path.rpartition("/")[0])
    keep = f"{recipe.plans}/history/{plan.crc}.plan"
    if stamp(keep) == (0, 0, 0):
        replace(keep, raw)
    path = f"{recipe.plans}/{plan.event}.plan"
    replace(path, raw)
    return path


def fingerprint(recipe: Recipe) -> str:
    """All that a rebuild looks at, modes and change times too: one that failed is tried again when it differs."""
    paths = [recipe.config, recipe.shipped, recipe.user, recipe.python]
    for root in (recipe.shipped, recipe.user):
        try:
            names = sorted(posix.listdir(root))
        except OSError:
            names = []
        paths += [f"{root}/{name}{part}" for name in names for part in ("", "/module.toml", "/module.py")]
    looks = []
    for path in paths:
        try:
            try:
                st = posix.stat(path)
            except OSError:
                st = posix.lstat(path)  # a link that leads nowhere
            looks.append(
                f"{path} {st.st_mtime_ns} {st.st_ctime_ns} {st.st_size} {st.st_ino} {st.st_mode} {st.st_uid}"
            )
        except OSError as error:
            looks.append(f"{path} {error.errno}")
    return digest("\n".join(looks).encode("utf-8", "replace"))


def _folders(root: str, *, optional: bool) -> list[str]:
    """The folders below ``root`` that hold a module.toml, sorted by name.

    Raises ManifestError where the folder cannot be listed: modules out of reach are not modules switched off. Only
    the user's own folder may be absent.
    """
    try:
        names = sorted(posix.listdir(root))
    except FileNotFoundError:
        if optional:
            return []
        raise ManifestError(root, "the folder of modules is gone") from None
    except OSError as error:
        raise ManifestError(root, error.strerror or "cannot be listed") from None
    distrust = trusted(root)
    if distrust:
        raise ManifestError(root, distrust)
    found = []
    for name in names:
        try:
            posix.stat(f"{root}/{name}/module.toml")
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise ManifestError(f"{root}/{name}", error.strerror or "cannot be read") from None
        found.append(f"{root}/{name}")
    return found


def _make_folder(path: str) -> None:
    if stamp(path) != (0, 0, 0):
        return
    parent = path.rpartition("/")[0]
    if parent:
        _make_folder(parent)
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        pass


def _config(path: str) -> dict[str, Any]:
    """What the config says, nothing where there is none: a link that leads nowhere is one that cannot be read."""
    try:
        posix.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError:
        pass  # what keeps us from it is said by who reads it
    return read_toml(path)


def _share_rules(fleet: Fleet, config_path: str) -> None:
    """Give a module with ``rules_of`` the rules of that module which concern it."""
    by_id = {manifest.id: manifest for manifest in fleet.found}
    for manifest in list(fleet.found):
        if manifest.rules_of in by_id:
            try:
                manifest.lay(by_id[manifest.rules_of].rules, config_path)
            except ManifestError as problem:
                fleet.problems.append(problem)


def overlay(manifest: Manifest, user: dict[str, Any], config_path: str) -> None:
    """Lay the user's [modules.ID] over the manifest's defaults; a key or a type it does not know is a ManifestError."""
    config = dict(manifest.config)
    rules = user.get("rules")
    if manifest.rule_keys is not None and rules is not None:
        if not isinstance(rules, dict):
            raise ManifestError(config_path, f"[modules.{manifest.id}.rules] must be a table")
        manifest.lay(rules, config_path)
        config = dict(manifest.config)
        user = {key: value for key, value in user.items() if key != "rules"}
    for key, value in user.items():
        where = f"[modules.{manifest.id}] {key}"
        if key == "enabled":
            if not isinstance(value, bool):
                raise ManifestError(config_path, f"{where} must be true or false")
            continue
        if key not in config:
            raise ManifestError(config_path, f"{where}: the module knows {', '.join(sorted(config)) or 'no keys'}")
        if type(value) is not type(config[key]):
            raise ManifestError(config_path, f"{where} must be {_KINDS[type(config[key])]}")
        check_plain(value, config_path, where)
        config[key] = value
    if manifest.native is not None and not set(_more(config)) <= set(NATIVE_MORE):
        where = f"[modules.{manifest.id}] more"
        raise ManifestError(config_path, f"{where} must list some of {', '.join(NATIVE_MORE)}")
    manifest.config = config


def _more(config: dict[str, Any]) -> list[str]:
    """What the config asks a native observer to log beyond its manifest's fields."""
    more = config.get("more", [])
    return [str(field) for field in more] if isinstance(more, list) else []


def _imports(path: str) -> list[str]:
    """The modules of the standard library and of the dispatcher that a hook module's file imports at its top level.

    Read from the lines, not the syntax tree (``import ast`` costs more than it could save): a name that is missed is
    only imported later, in the module's own process.
    """
    try:
        fd = opened(path)
        try:
            lines = slurp(fd).decode("utf-8", "replace").split("\n")
        finally:
            posix.close(fd)
    except OSError:
        return []
    names = []
    for line in lines:
        words = line.split()
        if line.startswith("import "):
            names += [part.split()[0] for part in line[7:].split("#")[0].split(",") if part.strip()]
        elif line.startswith("from ") and len(words) > 2 and words[2] == "import":
            names.append(words[1])
    return sorted({name for name in names if _preloadable(name)})


def _preloadable(name: str) -> bool:
    """Whether the dispatcher itself may import ``name`` for its modules: only what is known to do nothing but define.

    A list of what may, not of what may not: one import that prints, exits or starts the dispatcher again would silence
    every gate of the call.
    """
    if name in _DISPATCH_API or name.startswith(_KIT):
        return True
    return name.split(".", maxsplit=1)[0] in _SHARED and "__main__" not in name


_DISPATCH_API = ("overdeck.dispatch.eventlog", "overdeck.dispatch.module")
_KIT = "overdeck.dispatch.kit."
_SHARED = frozenset((
    "abc", "argparse", "ast", "base64", "binascii", "bisect", "calendar", "codecs", "collections", "configparser",
    "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "errno", "fcntl",
    "fnmatch", "fractions", "functools", "glob", "hashlib", "heapq", "hmac", "html", "io", "ipaddress",
    "itertools", "json", "keyword", "logging", "math", "mimetypes", "operator", "os", "pathlib", "platform",
    "posixpath", "pprint", "queue", "random", "re", "reprlib", "secrets", "shlex", "shutil", "sqlite3",
    "stat", "statistics", "string", "struct", "subprocess", "sys", "tempfile", "textwrap", "time",
    "tokenize", "tomllib", "traceback", "types", "typing", "unicodedata", "urllib", "uuid", "weakref",
    "zlib",
))  # fmt: skip
