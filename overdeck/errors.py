"""The exit codes of every command, and the exceptions that carry them."""

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
