"""The exit codes of every command, and the exceptions that carry them."""

import errno
import os
from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit status means; the same for every door (DESIGN.md)."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    NOT_FOUND = 3
    REJECTED = 4
    UNVERIFIABLE = 5
    INTERNAL = 70
    BUSY = 75
    INTERRUPTED = 130


class OverdeckError(Exception):
    """An expected failure, in three parts: what happened, on what, and what to type next.

    ``code`` is a short stable word for ``--json`` readers (``"no-such-module"``); ``hint`` names the next
    command; ``data`` travels in the envelope beside the error.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        exit_code: ExitCode,
        hint: str,
        data: object = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.exit_code = exit_code
        self.hint = hint
        self.data = data


class InvalidMeasurement(OverdeckError):
    """The measurement that must not be believed: exit 4, with the reason in words.

    Things cannot be compared, or nothing was measured; ``data`` is what a ``--json`` reader gets.
    """

    def __init__(self, message: str, *, code: str, hint: str, data: object = None) -> None:
        super().__init__(message, code=code, exit_code=ExitCode.REJECTED, hint=hint, data=data)


def usage(message: str, *, hint: str, code: str = "usage") -> OverdeckError:
    """The caller asked for something that cannot be: exit 2."""
    return OverdeckError(message, code=code, exit_code=ExitCode.USAGE, hint=hint)


def not_found(message: str, *, hint: str, code: str = "not-found", data: object = None) -> OverdeckError:
    """The named thing does not exist, or several match: exit 3, with candidates in ``data``."""
    return OverdeckError(message, code=code, exit_code=ExitCode.NOT_FOUND, hint=hint, data=data)


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a place that takes no more."""
_REFUSED = frozenset(
    {errno.EACCES, errno.EPERM, errno.EINVAL, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP,
     errno.ENAMETOOLONG, *FULL}
)  # fmt: skip


def unusable(error: OSError) -> OverdeckError | None:
    """The error for a path that the system does not let us use, which its owner can mend: exit 2.

    None for an ``error`` that names no path or is of another kind, a missing file for one: that is ours. A working
    directory that is gone names none either, and is told.
    """
    if isinstance(error, FileNotFoundError) and error.filename is None and _nowhere():
        return usage(
            "the working directory is gone: it was removed or renamed after this shell went there",
            code="no-working-directory",
            hint="cd to a folder that is there, then the same command again",
        )
    if error.errno not in _REFUSED or not isinstance(error.filename, str | bytes):
        return None
    path = os.fsdecode(error.filename)
    folder = os.path.dirname(path) or "."  # noqa: PTH120  # pathlib would be one more import of every command
    return usage(
        f"{path} cannot be used: {error.strerror}",
        code="unusable-path",
        hint=f"df -h {folder}" if error.errno in FULL else f"ls -ld {folder} {path}",
    )


def _nowhere() -> bool:
    try:
        os.getcwd()  # noqa: PTH109  # as above
    except FileNotFoundError:
        return True
    return False
