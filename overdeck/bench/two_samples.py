"""Are two groups of runs alike? The rank-sum test, for the doubts beside a verdict, never for the verdict."""

import math
from collections.abc import Sequence

from overdeck.bench.statistics import doubled_ranks


def rank_sum_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided p of the Wilcoxon rank-sum test (normal approximation, ties counted); 1 where a group is empty.

    >>> rank_sum_p([1, 2, 3, 4, 5, 6, 7, 8], [11, 12, 13, 14, 15, 16, 17, 18]) < 0.001
    True
    """
    n, m = len(first), len(second)
    if n == 0 or m == 0:
        return 1.0
    together = [*first, *second]
    least = min(together)
    ranks = doubled_ranks([value - least for value in together])  # of |value|: so none may be negative
    mean = sum(ranks) / (n + m)
    variance = n * m / (n + m) / (n + m - 1) * sum((rank - mean) ** 2 for rank in ranks)
    if variance == 0:
        return 1.0
    away = max(0.0, abs(sum(ranks[:n]) - n * mean) - 1)
    return math.erfc(away / math.sqrt(2 * variance))
