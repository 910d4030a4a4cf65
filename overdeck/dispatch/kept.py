"""The code of a hook module, compiled once and kept under its stamp: an import without a search or a compiler."""

from __future__ import annotations

import marshal
import posix

from overdeck.dispatch.plan import digest, opened, slurp, trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

_DIGEST = 16


def seal(raw: bytes) -> bytes:
    """What is kept of a file's code: its marshalled bytes behind their digest, for a flipped literal disarms a gate."""
    return digest(raw).encode() + raw


def load_code(source: str, stamped: tuple[int, int, int], kept: str, kept_stamp: list[int]) -> CodeType:
    """The code of a hook module's file: what was kept of it, if the file is still the same, else compiled now."""
    if kept and kept_stamp == list(stamped) and not (trusted(kept) or trusted(kept.rpartition("/")[0])):
        try:
            raw = read(kept)
            if raw[:_DIGEST] == digest(raw[_DIGEST:]).encode():
                code: CodeType = marshal.loads(raw[_DIGEST:])
                if type(code) is type(load_code.__code__) and code.co_filename == source:
                    return code
        except (OSError, ValueError, EOFError, TypeError):
            pass
    return compiled(source)


def compiled(source: str) -> CodeType:
    """The code of a file, compiled by its own ``__future__`` lines and none of ours."""
    code: CodeType = compile(read(source), source, "exec", dont_inherit=True)
    return code


def read(path: str) -> bytes:
    """All bytes of a file; raises OSError."""
    fd = opened(path)
    try:
        return slurp(fd)
    finally:
        posix.close(fd)
