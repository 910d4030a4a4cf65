"""The measurement that must not be believed: exit 4, with the reason in words."""

from overdeck.errors import ExitCode, OverdeckError


class InvalidMeasurement(OverdeckError):
    """The arms cannot be compared, or nothing was measured; ``data`` is what a ``--json`` reader gets."""

    def __init__(self, message: str, *, code: str, hint: str = "", data: object = None) -> None:
        super().__init__(message, code=code, exit_code=ExitCode.REJECTED, hint=hint, data=data)
