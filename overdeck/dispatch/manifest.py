"""module.toml files and the user's config, compiled to the plan of one event.

Used by the CLI, and by the call that finds its plan stale (INTERFACES.md, "The plan").
"""

from __future__ import annotations

import binascii
import posix
import sys

from overdeck.dispatch import bundle, clients
from overdeck.dispatch.plan import (
    CLASSES,
    DEFAULT_TOTAL_MS,
    NATIVE_FIELDS,
    Module,
    Native,
    Plan,
    PlanError,
    parse,
    read_plan,
    sealed,
    slurp,
    stamp,
    trusted,
    unsealed,
)
from overdeck.dispatch.plan import one_line as _one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECIPE = "recipe"
"""The file in a client's plan folder from which every plan there can be made again."""

DEFAULT_PACKS = ["guards"]
DEFAULT_TIMEOUT_MS = 1000
DEFAULT_LIFETIME_DAYS = 7
DEFAULT_NATIVE_BYTES = 16 << 20
_RECIPE_HEADER = "overdeck-recipe 1"
_CONFIG_KEYS = {"packs", "modules", "clients"}
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
    "memory_mb",
    "cpu_s",
}


class ManifestError(Exception):
    """A module.toml or the config cannot be used; ``path`` names the file."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class Manifest:
    """One module.toml, checked. ``config`` is the manifest's defaults overlaid by the user's table.

    ``lifetime_days`` None means silence never makes it suspect (``"never"``).
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

    @property
    def path(self) -> str:
        return self.folder + "/module.toml"

    @property
    def code(self) -> str:
        return self.folder + "/module.py"


class Recipe:
    """What the plans of one client are made from. Paths absolute; ``shipped`` and ``user`` are module folders."""

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

    def encode(self) -> bytes:
        """Line text with a crc, like a plan: the native front reads it where there is no plan."""
        return sealed(_RECIPE_HEADER, [f"{key} {_one_line(str(getattr(self, key)))}" for key in self.__slots__])

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
    fleet.config = _read_toml(recipe.config) if fleet.sources[0][2] else {}
    unknown = sorted(set(fleet.config) - _CONFIG_KEYS)
    if unknown:
        raise ManifestError(
            recipe.config, f"unknown key {unknown[0]!r}: it knows {', '.join(sorted(_CONFIG_KEYS))}"
        )
    packs = fleet.config.get("packs", DEFAULT_PACKS)
    tables = fleet.config.get("modules", {})
    if not _strings(packs):
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
                if manifest.timeout_ms > recipe.total_deadline_ms:
                    together = f"the {recipe.total_deadline_ms} ms that all modules of a call have together"
                    raise ManifestError(manifest.path, f"timeout_ms is over {together}")
                _overlay(manifest, tables.get(manifest.id, {}), recipe.config)
            except ManifestError as problem:
                fleet.problems.append(problem)
                continue
            fleet.found.append(manifest)
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
    for id in tables:
        if id not in seen and not any(problem.path.endswith(f"/{id}/module.toml") for problem in fleet.problems):
            fleet.problems.append(ManifestError(recipe.config, f"[modules.{id}] names no module"))
    return fleet


def read_manifest(folder: str, *, user: bool = False) -> Manifest:
    """Read and check ``folder``/module.toml; raises ManifestError with the reason."""
    manifest = Manifest(folder, user)
    path = manifest.path
    table = _read_toml(path)
    for piece in (folder,) if "native" in table else (folder, manifest.code):
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
    if manifest.cls not in CLASSES:
        raise ManifestError(path, f"class must be one of {', '.join(CLASSES)}")
    manifest.main_only = _flag(table, "main_only", path)
    manifest.background = _flag(table, "background", path)
    manifest.timeout_ms = _number(table, "timeout_ms", path, DEFAULT_TIMEOUT_MS, 1, 60_000)
    manifest.memory_mb = _number(table, "memory_mb", path, 0, 32, 1 << 20)
    manifest.cpu_s = _number(table, "cpu_s", path, 0, 1, 60)
    literals = table.get("literals", [])
    if not _strings(literals) or ("literals" in table and not literals):
        raise ManifestError(path, "literals must be a list of words; leave it out to run always")
    for word in literals:
        if not word or not all(letter in _WORD for letter in word):
            raise ManifestError(path, f"literal {word!r} is not one word of [A-Za-z0-9_.-]")
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
    manifest.config = config
    manifest.native = _native(table, manifest.cls, path)
    return manifest


def compile_plan(recipe: Recipe, fleet: Fleet, event: str) -> Plan:
    """The plan of one event from what ``load`` found."""
    plan = Plan()
    plan.client, plan.event = recipe.client, event
    plan.python, plan.entry, plan.state = recipe.python, recipe.entry, recipe.state
    plan.fires, plan.calls = recipe.fires, recipe.calls
    plan.total_deadline_ms = recipe.total_deadline_ms
    plan.sources = list(fleet.sources)
    for manifest in fleet.enabled:
        if event not in manifest.events:
            continue
        matcher = manifest.events[event]
        module = Module(
            manifest.id,
            manifest.cls,
            clients.routes(event, matcher),
            main_only=manifest.main_only,
            background=manifest.background,
            literals_in_payload=manifest.literals_in_payload,
            literals=manifest.literals,
            matcher=matcher,
            folder=manifest.folder,
            timeout_ms=manifest.timeout_ms,
            config=manifest.config,
        )
        module.memory_mb, module.cpu_s = manifest.memory_mb, manifest.cpu_s
        module.imports = _imports(manifest.code) if manifest.native is None else []
        if manifest.native is not None:
            path = f"{recipe.state}/modules/{manifest.id}/journal.jsonl"
            module.native = Native(manifest.native, DEFAULT_NATIVE_BYTES, path)
        plan.modules.append(module)
    return plan


def write_plan(recipe: Recipe, plan: Plan) -> str:
    """Write one plan and its copy by crc (old call lines stay readable); returns its path. Raises OSError.

    With it go the bundle of the dispatcher and the compiled code of the modules, which only save time.
    """
    _make_folder(f"{recipe.plans}/history")
    _make_folder(f"{recipe.plans}/code")
    plan.bundle = bundle.build(recipe.entry, recipe.plans)
    for module in plan.modules:
        if module.native is None:
            try:
                module.code, module.code_stamp = bundle.keep_code(f"{module.folder}/module.py", recipe.plans)
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


def replace(path: str, content: bytes) -> None:
    """Atomic write, owner only: temporary file beside it, fsync, rename. Raises OSError; the old file stays."""
    temporary = f"{path}.{posix.getpid()}.tmp"
    fd = posix.open(
        temporary, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_CLOEXEC | posix.O_NOFOLLOW, 0o600
    )
    try:
        try:
            view = memoryview(content)
            while view:
                view = view[posix.write(fd, view) :]
            posix.fsync(fd)
        finally:
            posix.close(fd)
        posix.rename(temporary, path)
    except BaseException:
        posix.unlink(temporary)
        raise


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
            st = posix.stat(path)
            looks.append(
                f"{path} {st.st_mtime_ns} {st.st_ctime_ns} {st.st_size} {st.st_ino} {st.st_mode} {st.st_uid}"
            )
        except OSError as error:
            looks.append(f"{path} {error.errno}")
    return f"{binascii.crc32(chr(10).join(looks).encode('utf-8', 'replace')):08x}"


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


def _read_toml(path: str) -> dict[str, Any]:
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


def _imports(path: str) -> list[str]:
    """The modules of the standard library and of the dispatcher that a hook module's file imports at its top level.

    Read from the lines, not the syntax tree (``import ast`` costs more than it could save): a name that is missed is
    only imported later, in the module's own process.
    """
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
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
    known = [n for n in names if n.split(".")[0] in sys.stdlib_module_names or n.startswith("overdeck.dispatch.")]
    return sorted(set(known))


def _events(table: dict[str, Any], path: str) -> dict[str, str]:
    events = table.get("events")
    if not isinstance(events, dict) or not events:
        raise ManifestError(path, "[events] must name at least one event and its matcher")
    for event, matcher in events.items():
        if event not in clients.CLAUDE_EVENTS:
            raise ManifestError(path, f"unknown event {event!r}")
        if not isinstance(matcher, str):
            raise ManifestError(path, f"the matcher of {event} must be a string")
        if matcher not in ("", "*") and not clients.subject_key(event):
            raise ManifestError(path, f'{event} ignores matchers: write {event} = "*"')
        if not clients.is_exact(matcher) and not _compiles(matcher):
            raise ManifestError(path, f"the matcher of {event} is not a regex: it would never match")
        if clients.routes(event, matcher) == ["-"]:
            raise ManifestError(path, f"the matcher of {event} names nothing")
    return events


def _native(table: dict[str, Any], cls: str, path: str) -> list[str] | None:
    fields = table.get("native")
    if fields is None:
        return None
    if cls != "observer":
        raise ManifestError(path, "native is for observers: only Python can decide something")
    if not _strings(fields) or not fields or not set(fields) <= set(NATIVE_FIELDS):
        raise ManifestError(path, f"native must list some of {', '.join(NATIVE_FIELDS)}")
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
    return re.search(clients.PYTHON_ONLY, pattern) is None


def _lifetime(table: dict[str, Any], path: str) -> int | None:
    zero_fire = table.get("zero_fire", {})
    days = zero_fire.get("lifetime_days", DEFAULT_LIFETIME_DAYS) if isinstance(zero_fire, dict) else None
    if days == "never":
        return None
    if isinstance(days, bool) or not isinstance(days, int) or days < 1:
        raise ManifestError(path, 'zero_fire.lifetime_days must be a number of days or "never"')
    return days


def _overlay(manifest: Manifest, user: dict[str, Any], config_path: str) -> None:
    """Lay the user's [modules.ID] over the manifest's defaults; a key or a type it does not know is an error."""
    config = dict(manifest.config)
    for key, value in user.items():
        where = f"[modules.{manifest.id}] {key}"
        if key == "enabled":
            if not isinstance(value, bool):
                raise ManifestError(config_path, f"{where} must be true or false")
            continue
        if key not in config:
            raise ManifestError(config_path, f"{where}: the module knows {', '.join(sorted(config)) or 'no keys'}")
        if type(value) is not type(config[key]):
            raise ManifestError(config_path, f"{where} must be a {type(config[key]).__name__}")
        config[key] = value
    manifest.config = config


def _strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


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
