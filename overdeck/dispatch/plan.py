"""The plan of one event: the line text of INTERFACES.md, read by every call (writing.py writes it), checked before use.

A plan names everything a call needs (interpreter, logs, modules, literals), so that no environment
variable can move a gate or a log. A crc32 seals it: a flipped literal would disarm a gate,
so nothing is read from a plan whose crc does not fit. What only Python needs (folders, deadlines, config) stands
behind the seal, under a digest of its own that the sealed part holds: the native front never reads it.
"""

from __future__ import annotations

import _imp
import posix

from overdeck.dispatch import jsontext

HEADER = "overdeck-plan 1"
DESCRIPTORS = min(max(4096, posix.sysconf("SC_OPEN_MAX")), 1 << 16)
"""Below this is every descriptor that a client may have left open in us: closed by one call of the kernel, where it
has it, so that nothing a module starts holds what a client waits for."""
_REGULAR = 0o10  # of a mode's type, as in S_IFREG
_EINVAL = 22
CLASSES = ("gate", "adviser", "observer", "rewriter", "adopted")
"""An adopted hook answers as a client's hook does: see adopted.py."""
MADE_BY_HAND = CLASSES[:-1]
DEFAULT_TOTAL_MS = 8000
MAX_TOTAL_MS = 600_000
"""The longest that the native front waits (native/plan.c)."""
NATIVE_FIELDS = ("id", "event", "tool", "session", "sub", "in", "error", "cwd", "agent")
"""What a native observer may log, in this order. With ``id``, which no other line has, its file is a spool that is
replayed: it is never rolled, and when it is full it takes no more."""
NATIVE_MORE = ("cwd", "agent")
"""Of these, what a module that ships logs only where the config asks for it: where the work is, and by whom."""


class PlanError(Exception):
    """The plan cannot be used: missing, truncated, from another version, not ours, or flipped bits."""


class Module:
    """One module as a plan names it. ``tools`` is ``"*"``, or names of which ``"?"`` means "ask Python"."""

    __slots__ = (
        "background",
        "cls",
        "code",
        "code_stamp",
        "config",
        "cpu_s",
        "detail",
        "folder",
        "id",
        "imports",
        "literals",
        "literals_in_payload",
        "main_only",
        "matcher",
        "memory_mb",
        "native",
        "timeout_ms",
        "tools",
    )

    def __init__(
        self,
        id: str,
        cls: str,
        tools: list[str],
        *,
        main_only: bool = False,
        background: bool = False,
        literals_in_payload: bool = False,
        literals: list[str] | None = None,
        matcher: str = "",
        folder: str = "",
        timeout_ms: int = 1000,
        config: dict[str, object] | None = None,
    ) -> None:
        self.id = id
        self.cls = cls
        self.tools = tools
        self.main_only = main_only
        self.background = background
        self.literals_in_payload = literals_in_payload
        self.literals = literals or []
        self.matcher = matcher
        self.folder = folder
        self.timeout_ms = timeout_ms
        self.config = config or {}
        self.imports: list[str] = []
        self.code = ""
        self.memory_mb = self.cpu_s = 0
        self.code_stamp: list[int] = []
        self.native: Native | None = None
        self.detail = ""

    @property
    def source(self) -> str:
        """The file its code is in; empty for an adopted hook that is no Python script."""
        return str(self.config.get("script", "")) if self.cls == "adopted" else f"{self.folder}/module.py"

    def complete(self) -> None:
        """Read the details of this module, which a plan that was already checked keeps as text until they are needed.

        Raises ValueError, KeyError or TypeError for what no plan of this version holds (a new key needs a new HEADER).
        """
        if not self.detail:
            return
        detail = jsontext.loads(self.detail)
        self.folder, self.matcher = detail["dir"], detail["matcher"]
        self.timeout_ms, self.config = detail["timeout_ms"], detail["config"]
        self.imports = detail["imports"]
        self.code, self.code_stamp = detail["code"], detail["stamp"]
        self.memory_mb, self.cpu_s = detail["memory_mb"], detail["cpu_s"]
        self.detail = ""

    def asked(self, tool: str | None) -> bool | None:
        """Whether a call of ``tool`` asks this module; None means the regex matcher has to decide.

        ``tool`` None is a call whose tool could not be read: everything may match.
        """
        if tool is None or "*" in self.tools or tool in self.tools:
            return True
        return None if "?" in self.tools else False


class Native:
    """What the front itself logs for an observer: no Python is started. ``fields`` are in NATIVE_FIELDS."""

    __slots__ = ("fields", "max_bytes", "path")

    def __init__(self, fields: list[str], max_bytes: int, path: str) -> None:
        self.fields = fields
        self.max_bytes = max_bytes
        self.path = path

    @property
    def type(self) -> str:
        """What the event is called in the event log; empty where the observer keeps a journal of its own."""
        first = self.fields[0] if self.fields else ""
        return first[5:] if first.startswith("type=") else ""


class Plan:
    """One event's plan, parsed. ``sources`` are (mtime_ns, size, inode, path); all zero means absent.

    ``named`` is the client's own name of the event, where it has another than Claude. ``events`` is the event log
    (eventlog.py), where an observer of the plan keeps one.
    """

    __slots__ = (
        "bundle",
        "calls",
        "client",
        "crc",
        "entry",
        "event",
        "events",
        "fires",
        "modules",
        "named",
        "python",
        "sources",
        "state",
        "total_deadline_ms",
    )

    def __init__(self) -> None:
        self.client = self.event = self.python = self.entry = self.state = self.fires = self.calls = ""
        self.bundle = ""
        self.crc = self.named = self.events = ""
        self.total_deadline_ms = DEFAULT_TOTAL_MS
        self.sources: list[tuple[int, int, int, str]] = []
        self.modules: list[Module] = []

    def encode(self) -> bytes:
        """The plan as bytes, with its crc; raises PlanError where a name or path would break a line."""
        from overdeck.dispatch import writing

        return writing.encode(self)

    def stale(self) -> str:
        """The first source that is not as it was when the plan was made; empty when the plan is fresh."""
        for mtime, size, inode, path in self.sources:
            if stamp(path) != (mtime, size, inode):
                return path
        return ""


def parse(raw: bytes, checked: str = "") -> Plan:
    """Read a plan's bytes; raises PlanError, and says why, on anything but a whole plan of this version.

    ``checked`` is the crc of the plan that the native front found whole and fresh a moment ago: of that very plan
    the seal is not computed again, its sources are left out, and its modules are not ``complete``.
    """
    lines, plan_crc, behind = unsealed(raw, HEADER, checked)
    plan = Plan()
    plan.crc = plan_crc
    known = plan_crc == checked
    by_id: dict[str, Module] = {}
    details = ""
    try:
        for line in lines:
            key, _, rest = line.partition(" ")
            if key == "source":
                if known:
                    continue
                mtime, size, inode, path = rest.split(" ", 3)
                plan.sources.append((int(mtime), int(size), int(inode), path))
            elif key == "module":
                id, cls, flags, tools = rest.split(" ", 3)
                if cls not in CLASSES or not tools.startswith("tools="):
                    raise PlanError(f"line not understood: {line[:80]!r}")
                by_id[id] = module = Module(id, cls, tools[6:].split("|"))
                names = flags.split(",")
                module.main_only = "main-only" in names
                module.background = "background" in names
                module.literals_in_payload = "payload-literals" in names
                plan.modules.append(module)
            elif key == "literals":
                id, *words = rest.split(" ")
                by_id[id].literals = words
            elif key == "details":
                details = rest
            elif key == "total-deadline-ms":
                plan.total_deadline_ms = int(rest)
            elif key in ("client", "event", "python", "entry", "bundle", "state", "fires", "calls", "named"):
                setattr(plan, key, rest)
            elif key == "native":
                id, fields, size, path = rest.split(" ", 3)
                by_id[id].native = native = Native([f for f in fields.split(",") if f != "-"], int(size), path)
                plan.events = path if native.type else plan.events
            else:
                raise PlanError(f"line not understood: {line[:80]!r}")
        if details != f"{digest(behind)} {len(behind)}":
            raise PlanError("the digest of its details does not fit their bytes")
        for line in behind.decode().split("\n")[:-1]:
            id, _, text = line.partition(" ")
            by_id[id].detail = text
        if not known:
            for module in plan.modules:
                module.complete()
    except (ValueError, KeyError, TypeError) as error:
        raise PlanError(f"a line is broken: {error}") from None
    if not (plan.client and plan.event and plan.fires and plan.calls and plan.state):
        raise PlanError("it names no client, event, state or logs")
    return plan


def unsealed(raw: bytes, header: str, checked: str = "") -> tuple[list[str], str, bytes]:
    """(the lines between header and crc, the crc, the bytes behind); raises PlanError for anything not whole.

    A crc that equals ``checked`` is believed.
    """
    first = raw[: len(header) + 10]
    if not first.startswith(f"{header} ".encode()) or first[-1:] != b"\n" or not first[-9:-1].isdigit():
        raise PlanError(f"it is from another version: {first[:40]!r}")
    length = int(first[-9:-1])
    end = length - 13
    if length > len(raw) or end < len(first):
        raise PlanError("it is cut short")
    crc = checked if checked and raw[end:length] == f"crc {checked}\n".encode() else crc32(raw[:end])
    if raw[end:length] != f"crc {crc}\n".encode():
        raise PlanError("its crc does not fit its bytes")
    return raw[len(first) : end].decode("utf-8").split("\n")[:-1], crc, raw[length:]


def crc32(data: bytes) -> str:
    """The seal of plans and recipes, which the native front computes too.

    Imported here: binascii brings zlib with it, a twentieth of a bare start (measured).
    """
    from binascii import crc32 as computed

    return f"{computed(data):08x}"


def digest(data: bytes) -> str:
    """The digest of what only Python reads, and of keys and names: the keyed hash that .pyc files use (PEP 552)."""
    return _imp.source_hash(0, data).hex()


def stamp(path: str) -> tuple[int, int, int]:
    """(mtime_ns, size, inode) of what ``path`` names now; zeros where there is nothing."""
    try:
        st = posix.stat(path)
    except OSError:
        return (0, 0, 0)
    return (st.st_mtime_ns, st.st_size, st.st_ino)


def trusted(path: str) -> str:
    """Why ``path`` may not be loaded from, or the empty string: owned by the user or root, not writable by others.

    Group-writable is accepted only for the user's own private group (gid equal to uid), the common umask 002.
    """
    try:
        return distrusted(path, posix.stat(path))
    except OSError as error:
        return f"{path}: {error.strerror}"


def distrusted(path: str, st: posix.stat_result) -> str:
    """The same for a file already looked at."""
    uid = posix.geteuid()
    if st.st_uid not in (0, uid):
        return f"{path} is owned by uid {st.st_uid}, not by you or root"
    if st.st_mode & 0o002:
        return f"{path} is writable by everyone"
    if st.st_mode & 0o020 and not (st.st_gid == uid and st.st_gid == posix.getegid()):
        return f"{path} is writable by the group {st.st_gid}"
    return ""


def read_plan(path: str) -> bytes:
    """The bytes of a plan file, after owner and mode checks; raises PlanError."""
    distrust = trusted(path)
    if distrust:
        raise PlanError(distrust)
    try:
        fd = opened(path)
    except OSError as error:
        raise PlanError(f"{path}: {error.strerror}") from None
    try:
        return slurp(fd)
    finally:
        posix.close(fd)


def opened(path: str, *, follow: bool = True, within: int | None = None) -> int:
    """A descriptor to read the file ``path`` by, below the open folder ``within`` where that is given; never waits.

    Raises OSError, for what is no regular file too (a pipe would never end), and for a link at the end of the path
    unless ``follow``; ValueError for what no file can be called.
    """
    links = 0 if follow else posix.O_NOFOLLOW
    fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK | links, dir_fd=within)
    if not is_regular(posix.fstat(fd)):
        posix.close(fd)
        raise OSError(_EINVAL, "it is no regular file", path)
    return fd


def is_regular(st: posix.stat_result) -> bool:
    """Whether what was looked at is a regular file."""
    return st.st_mode >> 12 == _REGULAR


def slurp(fd: int) -> bytes:
    """All bytes of an open file."""
    parts = []
    while part := posix.read(fd, 1 << 16):
        parts.append(part)
    return b"".join(parts)


def start_of(fd: int, most: int) -> bytes:
    """The first ``most`` bytes of an open file, or all that it has."""
    raw = b""
    while len(raw) < most and (more := posix.read(fd, most - len(raw))):
        raw += more
    return raw
