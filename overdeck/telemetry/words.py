"""Numbers and times as people read them: the same words in the terminal and on the screen."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from overdeck.errors import usage

_SINCE = re.compile(r"([1-9]\d{0,4})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_since(text: str, hint: str = "overdeck fires --since 7d") -> timedelta:
    """``30m``, ``12h``, ``7d``, ``4w`` as a length of time; raises OverdeckError (usage, ``hint``) for anything else.

    >>> parse_since("4w").days
    28
    """
    found = _SINCE.fullmatch(text)
    if not found:
        raise usage(
            f"--since {text!r} is not a length of time: a whole number and one of m, h, d, w",
            hint=hint,
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def upper_bound_percent(trials: int) -> float:
    """The 95 % upper bound, in percent, of a rate that showed nothing in ``trials``: the rule of three.

    >>> round(upper_bound_percent(12431), 3)
    0.024
    """
    return min(100.0, 300.0 / trials) if trials else 100.0


def percent(value: float) -> str:
    """Two digits that count: ``0.024 %``, ``3.1 %``, ``86 %``.

    >>> [percent(x) for x in (0.02413, 3.14, 86.4, 100.0, 0.0)]
    ['0.024 %', '3.1 %', '86 %', '100 %', '0 %']
    """
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.2g} %"


_BARS = "▁▂▃▄▅▆▇█"


def sparkline(counts: Sequence[int], width: int) -> str:
    """Counts over time as bars of the largest, newest at the right; a stretch without any is a dot, never a low bar.

    >>> sparkline([0, 0, 1, 0, 8, 4], 6), sparkline([0, 0, 1, 0, 8, 4], 3), sparkline([], 3)
    ('··▁·█▄', '·▁█', '···')
    """
    padded = [0] * (-len(counts) % width) + list(counts) if counts else [0] * width
    size = len(padded) // width
    sums = [sum(padded[i * size : (i + 1) * size]) for i in range(width)]
    top = max(sums)
    return "".join(_BARS[max(0, -(-8 * value // top) - 1)] if value else "·" for value in sums)


def size(count: int) -> str:
    """Bytes in a unit that keeps them short: ``812 B``, ``3.4 kB``, ``12 MB``.

    >>> size(812), size(3_400), size(12_000_000)
    ('812 B', '3.4 kB', '12 MB')
    """
    value, unit = float(count), "B"
    for larger in ("kB", "MB", "GB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"


def days(count: float) -> str:
    """Whole days in words, rounded down.

    >>> days(1.9), days(8)
    ('1 day', '8 days')
    """
    whole = int(count)
    return f"{whole} day" if whole == 1 else f"{whole} days"


def span(length: timedelta) -> str:
    """A length of time in its largest unit, signless: ``40 s``, ``12 min``, ``3 h``, ``8 d``.

    >>> span(timedelta(hours=50))
    '2 d'
    """
    seconds = int(abs(length.total_seconds()))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def ago(moment: datetime | None, now: datetime) -> str:
    """How long ago, or how far ahead of the clock, a moment is; both aware."""
    if moment is None:
        return "never"
    return f"in {span(moment - now)}" if moment > now else f"{span(now - moment)} ago"


def iso(moment: datetime | None) -> str | None:
    """A moment as JSON carries it: UTC, milliseconds, ``Z``."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
