"""Does one arm do two different things? A robust look for two modes in its runs."""

import math
from collections.abc import Sequence
from statistics import median

_FEWEST = 24
_LEAST_SHARE = 0.15
"""Of all runs, in the smaller mode: fewer are outliers, which the estimator does not mind."""
_LEAST_APART = 2.8
"""Distance of the modes in sums of their own spreads; halves of one bell are 1.1 apart, of a flat top 1.35."""
_LEAST_RATIO = 1.05
_MOST_BETWEEN = 0.03
"""Of all runs, in the middle three tenths between the modes: there has to be a valley."""
_NORMAL_MAD = 1.4826


def two_modes(values: Sequence[float]) -> tuple[float, float] | None:
    """The two typical values of positive ``values`` that fall into two groups; None where they are one.

    Both groups hold 15 % of the runs or more, are 5 % apart or more, far apart for their own spread, and next
    to nothing lies between. False alarms on one bell, a flat top or a long tail: under 2 % (tested).

    >>> two_modes([10.0, 10.1, 9.9, 10.2] * 5 + [14.0, 14.1, 13.9] * 3)
    (10.05, 14.0)
    """
    n = len(values)
    if n < _FEWEST:
        return None
    logs = sorted(math.log(value) for value in values)
    cut = _best_cut(logs, math.ceil(_LEAST_SHARE * n))
    low, high = median(logs[:cut]), median(logs[cut:])
    spread = _NORMAL_MAD * sum(
        median(abs(value - centre) for value in group) for group, centre in ((logs[:cut], low), (logs[cut:], high))
    )
    apart = high - low
    smaller = min(above := sum(value > (low + high) / 2 for value in logs), n - above)
    between = sum(low + 0.35 * apart < value < high - 0.35 * apart for value in logs)
    if smaller < _LEAST_SHARE * n or between > _MOST_BETWEEN * n:
        return None
    if apart < math.log(_LEAST_RATIO) or apart < _LEAST_APART * spread:
        return None
    ordered = sorted(values)
    return median(ordered[:cut]), median(ordered[cut:])


def _best_cut(ascending: Sequence[float], least: int) -> int:
    """Where to cut so that the halves' means differ most for their sizes; outliers are drawn in first."""
    n = len(ascending)
    floor, ceiling = ascending[n // 20], ascending[n - 1 - n // 20]
    clipped = [min(max(value, floor), ceiling) for value in ascending]
    total, below = sum(clipped), 0.0
    best, cut = -1.0, least
    for k in range(1, n):
        below += clipped[k - 1]
        if least <= k <= n - least:
            score = k * (n - k) * ((total - below) / (n - k) - below / k) ** 2
            if score > best:
                best, cut = score, k
    return cut
