"""The plan of one event: the line text of INTERFACES.md, written once, checked before every use.

A plan names everything a call needs (interpreter, logs, modules, literals), so that no environment
variable can move a gate or a log. A crc32 seals it: a flipped literal would disarm a gate,
so nothing is read from a plan whose crc does not fit. What only Python needs (folders, deadlines, config) stands
behind the seal, under a crc of its own that the sealed part holds: the native front never reads it.
"""

from __future__ import annotations

import binascii
import posix

from overdeck.dispatch import jsontext

HEADER = "overdeck-plan 1"
CLASSES = ("gate", "adviser", "observer", "rewriter")
DEFAULT_TOTAL_MS = 8000
NATIVE_FIELDS = ("event", "tool", "session", "sub", "in")


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


class Plan:
    """One event's plan, parsed. ``sources`` are (mtime_ns, size, inode, path); all zero means absent."""

    __slots__ = (
        "bundle",
        "calls",
        "client",
        "crc",
        "entry",
        "event",
        "fires",
        "modules",
        "python",
        "sources",
        "state",
        "total_deadline_ms",
    )

    def __init__(self) -> None:
        self.client = self.event = self.python = self.entry = self.state = self.fires = self.calls = ""
        self.bundle = ""
        self.crc = ""
        self.total_deadline_ms = DEFAULT_TOTAL_MS
        self.sources: list[tuple[int, int, int, str]] = []
        self.modules: list[Module] = []

    def encode(self) -> bytes:
        """The plan as bytes, with its crc; raises PlanError where a name or path would break a line."""
        lines = []
        for key in ("client", "event", "python", "entry", "bundle", "state", "fires", "calls"):
            lines.append(f"{key} {one_line(getattr(self, key))}")
        lines.append(f"total-deadline-ms {self.total_deadline_ms}")
        lines += [f"source {mtime} {size} {inode} {one_line(path)}" for mtime, size, inode, path in self.sources]
        details = []
        for m in self.modules:
            flags = [
                name
                for name, on in (
                    ("main-only", m.main_only),
                    ("background", m.background),
                    ("payload-literals", m.literals_in_payload),
                )
                if on
            ]
            lines.append(f"module {m.id} {m.cls} {','.join(flags) or '-'} tools={'|'.join(m.tools)}")
            if m.literals:
                lines.append(f"literals {m.id} {' '.join(m.literals)}")
            if m.native is not None:
                where = f"{m.native.max_bytes} {one_line(m.native.path)}"
                lines.append(f"native {m.id} {','.join(m.native.fields) or '-'} {where}")
            detail = {
                "dir": one_line(m.folder),
                "matcher": m.matcher,
                "timeout_ms": m.timeout_ms,
                "config": m.config,
                "imports": m.imports,
                "code": m.code,
                "stamp": m.code_stamp,
                "memory_mb": m.memory_mb,
                "cpu_s": m.cpu_s,
            }
            details.append(f"{m.id} {jsontext.dumps(detail)}\n")
        behind = "".join(details).encode()
        lines.append(f"details {binascii.crc32(behind):08x} {len(behind)}")
        return sealed(HEADER, lines) + behind

    def stale(self) -> str:
        """The first source that is not as it was when the plan was made; empty when the plan is fresh."""
        for mtime, size, inode, path in self.sources:
            if stamp(path) != (mtime, size, inode):
                return path
        return ""


def parse(raw: bytes) -> Plan:
    """Read a plan's bytes; raises PlanError, and says why, on anything but a whole plan of this version."""
    lines, plan_crc, behind = unsealed(raw, HEADER)
    plan = Plan()
    plan.crc = plan_crc
    by_id: dict[str, Module] = {}
    details = ""
    try:
        for line in lines:
            key, _, rest = line.partition(" ")
            if key == "source":
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
            elif key in ("client", "event", "python", "entry", "bundle", "state", "fires", "calls"):
                setattr(plan, key, rest)
            elif key == "native":
                id, fields, size, path = rest.split(" ", 3)
                by_id[id].native = Native([f for f in fields.split(",") if f != "-"], int(size), path)
            else:
                raise PlanError(f"line not understood: {line[:80]!r}")
        if details != f"{binascii.crc32(behind):08x} {len(behind)}":
            raise PlanError("the crc of its details does not fit their bytes")
        for line in behind.decode().split("\n")[:-1]:
            id, _, text = line.partition(" ")
            detail = jsontext.loads(text)
            module = by_id[id]
            module.folder, module.matcher = detail["dir"], detail["matcher"]
            module.timeout_ms, module.config = detail["timeout_ms"], detail["config"]
            module.imports = detail["imports"]
            module.code, module.code_stamp = detail["code"], detail["stamp"]
            module.memory_mb, module.cpu_s = detail["memory_mb"], detail["cpu_s"]
    except (ValueError, KeyError, TypeError) as error:
        raise PlanError(f"a line is broken: {error}") from None
    if not (plan.client and plan.event and plan.fires and plan.calls and plan.state):
        raise PlanError("it names no client, event, state or logs")
    return plan


def sealed(header: str, lines: list[str]) -> bytes:
    """Header (with the length of this part), lines, and the crc line that seals them."""
    inside = "".join(line + "\n" for line in lines).encode()
    length = len(header) + 10 + len(inside) + 13
    body = f"{header} {length:08d}\n".encode() + inside
    return body + f"crc {binascii.crc32(body):08x}\n".encode()


def unsealed(raw: bytes, header: str) -> tuple[list[str], str, bytes]:
    """(the lines between header and crc, the crc, the bytes behind); raises PlanError for anything not whole."""
    first = raw[: len(header) + 10]
    if not first.startswith(f"{header} ".encode()) or first[-1:] != b"\n" or not first[-9:-1].isdigit():
        raise PlanError(f"it is from another version: {first[:40]!r}")
    length = int(first[-9:-1])
    end = length - 13
    if length > len(raw) or end < len(first):
        raise PlanError("it is cut short")
    crc = f"{binascii.crc32(raw[:end]):08x}"
    if raw[end:length] != f"crc {crc}\n".encode():
        raise PlanError("its crc does not fit its bytes")
    return raw[len(first) : end].decode("utf-8").split("\n")[:-1], crc, raw[length:]


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
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError as error:
        raise PlanError(f"{path}: {error.strerror}") from None
    try:
        return slurp(fd)
    finally:
        posix.close(fd)


def slurp(fd: int) -> bytes:
    """All bytes of an open file."""
    parts = []
    while part := posix.read(fd, 1 << 16):
        parts.append(part)
    return b"".join(parts)


def one_line(text: str) -> str:
    """``text``, if it can stand in a line of a plan; raises PlanError."""
    if "\n" in text or "\r" in text:
        raise PlanError(f"a path with a line break cannot be in a plan: {text!r}")
    return text


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
