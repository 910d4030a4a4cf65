"""Writing what the hot path reads: plans and recipes under their seal, and every file by rename."""

from __future__ import annotations

import posix

from overdeck.dispatch import jsontext
from overdeck.dispatch.plan import HEADER, PlanError, crc32, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overdeck.dispatch.plan import Plan


def encode(plan: Plan) -> bytes:
    """The plan as bytes, with its crc; raises PlanError where a name or path would break a line."""
    lines = []
    for key in ("client", "event", "python", "entry", "bundle", "state", "fires", "calls"):
        lines.append(f"{key} {one_line(getattr(plan, key))}")
    if plan.named:
        lines.append(f"named {one_line(plan.named)}")
    lines.append(f"total-deadline-ms {plan.total_deadline_ms}")
    lines += [f"source {mtime} {size} {inode} {one_line(path)}" for mtime, size, inode, path in plan.sources]
    details = []
    for m in plan.modules:
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
    lines.append(f"details {digest(behind)} {len(behind)}")
    return sealed(HEADER, lines) + behind


def sealed(header: str, lines: list[str]) -> bytes:
    """Header (with the length of this part), lines, and the crc line that seals them."""
    inside = "".join(line + "\n" for line in lines).encode()
    length = len(header) + 10 + len(inside) + 13
    body = f"{header} {length:08d}\n".encode() + inside
    return body + f"crc {crc32(body)}\n".encode()


def one_line(text: str) -> str:
    """``text``, if it can stand in a line of a plan; raises PlanError."""
    if "\n" in text or "\r" in text:
        raise PlanError(f"a path with a line break cannot be in a plan: {text!r}")
    return text


def fill(fd: int, content: bytes, *, lasting: bool) -> None:
    """Write all of it, with an fsync where it is to last, and close the file whatever happens. Raises OSError."""
    try:
        view = memoryview(content)
        while view:
            view = view[posix.write(fd, view) :]
        if lasting:
            posix.fsync(fd)
    finally:
        posix.close(fd)


def replace(path: str, content: bytes, *, lasting: bool = True) -> None:
    """Atomic write, owner only: temporary file beside it, fsync, rename. Raises OSError; the old file stays.

    Without ``lasting`` there is no fsync: for what is held against its own digest whenever it is read.
    """
    temporary = f"{path}.{posix.getpid()}.tmp"
    fd = posix.open(
        temporary, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_CLOEXEC | posix.O_NOFOLLOW, 0o600
    )
    try:
        fill(fd, content, lasting=lasting)
        posix.rename(temporary, path)
    except OSError as error:
        posix.unlink(temporary)
        raise OSError(error.errno, error.strerror, path) from None  # of a full disk, write() itself names no file
    except BaseException:
        posix.unlink(temporary)
        raise
