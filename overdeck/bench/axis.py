"""Ratios as a person sees them at once: intervals on one logarithmic axis, drawn in text, and a trend as bars.

Every picture is exactly as wide as it was asked to be, in letters of one cell each.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

ONE, BAR, BOTH = "│", "┊", "┃"
"""No difference; the bar; both in one cell."""
LESS, MORE = "◀", "▶"
"""The interval goes on beyond the axis."""
_LEVELS = "▁▂▃▄▅▆▇█"
_NEAR = 1.25
"""The narrowest axis reaches as far on both sides: noise shall not look like a difference."""
_MARGIN = 1.05


class Interval(NamedTuple):
    """An estimate and its 95 % interval, as ratios; ``high`` may be infinite."""

    value: float
    low: float
    high: float


class Axis(NamedTuple):
    """From ``low`` to ``high`` in ``width`` cells, logarithmic. ``bar`` is a ratio that is marked, besides 1.0."""

    low: float
    high: float
    width: int
    bar: float

    def cell(self, ratio: float) -> int:
        """Where a ratio is; below 0, or ``width`` and above, where it is beyond the axis."""
        if ratio <= 0:
            return -1
        if math.isinf(ratio):
            return self.width
        share = math.log(ratio / self.low) / math.log(self.high / self.low)
        return math.floor(share * (self.width - 1) + 0.5)


def axis(intervals: Iterable[Interval], *, width: int, bar: float, near: bool = False) -> Axis:
    """One that holds all of them, 1.0 and the bar; ``near``: no more than 1.0 ± 25 %, whatever lies beyond."""
    low, high = 1 / _NEAR, _NEAR
    if not near:
        for one in intervals:
            low = min(low, *(end / _MARGIN for end in one if 0 < end < math.inf))
            high = max(high, *(end * _MARGIN for end in one if 0 < end < math.inf))
    return Axis(low, max(high, bar * _MARGIN), max(width, 3), bar)


def drawn(interval: Interval | None, on: Axis) -> str:
    """``├──●──┤`` where it lies, over the lines of 1.0 and of the bar; None: the lines alone."""
    cells = [" "] * on.width
    one, bar = on.cell(1.0), on.cell(on.bar)
    cells[one] = ONE
    if 0 <= bar < on.width:
        cells[bar] = BOTH if bar == one else BAR
    if interval is None:
        return "".join(cells)
    last = on.width - 1
    low, value, high = (on.cell(end) for end in (interval.low, interval.value, interval.high))
    for place in range(max(low, 0), min(high, last) + 1):
        cells[place] = "─" if cells[place] == " " else "┼"
    if 0 <= low <= last:
        cells[low] = "├"
    if 0 <= high <= last:
        cells[high] = "┤"
    if low < 0 or value < 0:
        cells[0] = LESS
    if high > last or value > last:
        cells[last] = MORE
    if 0 <= value <= last:
        cells[value] = "●"
    return "".join(cells)


def legend(on: Axis) -> str:
    """What stands above the axis: 1.0 at its line, and both ends where there is room."""
    left, middle, right = (_short(ratio) for ratio in (on.low, 1.0, on.high))
    cells = [" "] * on.width
    for place, text in ((on.cell(1.0) - 1, middle), (0, left), (on.width - len(right), right)):
        around = "".join(cells[max(place - 1, 0) : place + len(text) + 1])
        if place >= 0 and place + len(text) <= on.width and not around.strip():
            cells[place : place + len(text)] = text
    return "".join(cells)


def trend_bars(ratios: Sequence[float]) -> str:
    """Ratios over time, oldest first, as bars from the least to the largest; alike within 1 %: all of middle height.

    >>> trend_bars([0.5, 1.0, 2.0]), trend_bars([1.0, 1.001]), trend_bars([])
    ('▁▅█', '▄▄', '')
    """
    if not ratios:
        return ""
    logs = [math.log(ratio) if ratio > 0 else -math.inf for ratio in ratios]
    finite = [value for value in logs if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    if high - low < math.log(1.01):
        return "".join(_LEVELS[3] if math.isfinite(value) else _LEVELS[0] for value in logs)
    steps = len(_LEVELS) - 1
    return "".join(
        _LEVELS[math.floor((value - low) / (high - low) * steps + 0.5)] if math.isfinite(value) else _LEVELS[0]
        for value in logs
    )


def _short(ratio: float) -> str:
    return f"{ratio:.2g}" if ratio < 0.1 else f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"
