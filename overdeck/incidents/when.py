"""Instants as the log writes them: UTC text that sorts as time does."""

import re
import time

from overdeck.errors import usage

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def timestamp(seconds: float) -> str:
    """``seconds`` since the epoch as ISO 8601 in UTC with milliseconds.

    >>> timestamp(1785000000.5)
    '2026-07-25T17:20:00.500Z'
    """
    whole, milliseconds = divmod(int(seconds * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{milliseconds:03d}Z"


def since(text: str, now: float) -> str:
    """The timestamp that ``--since TEXT`` means at ``now`` (seconds since the epoch).

    TEXT is an age (``30m``, ``12h``, ``7d``, ``4w``) or a day (``2026-08-15``); anything else is a usage error.

    >>> since("7d", 1785000000.0)
    '2026-07-18T17:20:00.000Z'
    """
    age = re.fullmatch(r"(\d{1,6})([smhdw])", text)
    if age:
        return timestamp(max(0.0, now - int(age[1]) * _UNITS[age[2]]))
    if re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", text):
        return f"{text}T00:00:00.000Z"
    raise usage(
        f"--since {text!r} is neither an age nor a day",
        code="bad-since",
        hint="write --since 7d, 12h, 30m or 2026-08-15",
    )
