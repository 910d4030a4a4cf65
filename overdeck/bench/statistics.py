"""Paired statistics on log ratios: the exact signed-rank test, Hodges–Lehmann, and its confidence interval.

Pure functions on plain floats, standard library only. A difference here is ``log(t_B / t_A)`` of one block,
so an estimate ``h`` reads as the ratio ``exp(h)``. With a fair coin deciding the order within each block, the
sign of each difference is fair under "no difference" whatever the load does, which is all the test assumes.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from statistics import NormalDist, fmean, median
from typing import NamedTuple

EXACT_UP_TO = 50
"""Above this many differences the normal approximation (with continuity correction) is used."""

NORMAL_MAD = 1.4826
"""The median absolute deviation of a normal sample times this is its standard deviation."""


class Ratio(NamedTuple):
    """How many times A's cost B takes, with its confidence interval and the two-sided p of "no difference"."""

    value: float
    low: float
    high: float
    p: float


@lru_cache(maxsize=128)
def signed_rank_counts(n: int) -> tuple[int, ...]:
    """How many of the 2**n sign patterns give each signed-rank sum 0 … n(n+1)/2 (no ties)."""
    return _subset_sums(tuple(range(1, n + 1)))


def _subset_sums(ranks: Sequence[int]) -> tuple[int, ...]:
    """For each total, the number of subsets of ``ranks`` that sum to it."""
    counts = [1] + [0] * sum(ranks)
    reached = 0
    for rank in ranks:
        reached += rank
        for total in range(reached, rank - 1, -1):
            counts[total] += counts[total - rank]
    return tuple(counts)


@lru_cache(maxsize=128)
def _cumulative(n: int) -> tuple[int, ...]:
    return tuple(accumulate(signed_rank_counts(n)))


def doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the midrank of each |value|, so that ties stay whole numbers; in the order of ``values``."""
    order = sorted(range(len(values)), key=lambda i: abs(values[i]))
    ranks = [0] * len(values)
    before = 0
    for _, tied in groupby(order, key=lambda i: abs(values[i])):
        members = list(tied)
        for i in members:
            ranks[i] = 2 * before + len(members) + 1
        before += len(members)
    return ranks


def signed_rank_p(differences: Sequence[float]) -> float:
    """Two-sided p of the Wilcoxon signed-rank test that ``differences`` are symmetric about zero.

    Exact up to EXACT_UP_TO differences, ties included (the distribution of the midranks actually seen).
    Zeros say nothing about direction and are dropped; without any other difference p is 1.
    """
    moved = [d for d in differences if d != 0]
    n = len(moved)
    if n == 0:
        return 1.0
    ranks = doubled_ranks(moved)
    positive = sum(rank for rank, d in zip(ranks, moved, strict=True) if d > 0)
    smaller = min(positive, sum(ranks) - positive)
    if n > EXACT_UP_TO:
        # Doubled ranks: mean Σ/2, variance Σr²/4, and one unit of W is two here.
        away = max(0.0, sum(ranks) / 2 - smaller - 1)
        return math.erfc(away / math.sqrt(sum(r * r for r in ranks) / 4) / math.sqrt(2))
    untied = len(set(ranks)) == n
    below = _cumulative(n)[smaller // 2] if untied else sum(_subset_sums(ranks)[: smaller + 1])
    return min(1.0, 2 * below / (1 << n))


def signed_rank_z(differences: Sequence[float]) -> float:
    """The signed-rank statistic in standard units, positive where ``differences`` are; 0 when all are zero."""
    moved = [d for d in differences if d != 0]
    if not moved:
        return 0.0
    ranks = doubled_ranks(moved)
    positive = sum(rank for rank, d in zip(ranks, moved, strict=True) if d > 0)
    return (positive - sum(ranks) / 2) / math.sqrt(sum(r * r for r in ranks) / 4)


def walsh_averages(differences: Sequence[float]) -> list[float]:
    """The means of all pairs, each value paired with itself too, ascending: n(n+1)/2 of them."""
    return sorted(
        (a + b) / 2 for i, a in enumerate(differences) for b in differences[i:]
    )  # fmt: skip


def hodges_lehmann(differences: Sequence[float]) -> float:
    """The median of the Walsh averages: the centre of symmetry, insensitive to a few wild blocks."""
    return median(walsh_averages(differences))


def interval_rank(n: int, confidence: float) -> int:
    """Which Walsh average, counted from 1 at either end, bounds the interval: the exact signed-rank quantile.

    Raises ValueError when ``n`` differences are too few for this ``confidence``.
    """
    tail = (1 - confidence) / 2
    if n > EXACT_UP_TO:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return math.floor(n * (n + 1) / 4 - NormalDist().inv_cdf(1 - tail) * spread + 0.5)
    rank = sum(1 for below in _cumulative(n) if below <= tail * 2**n)
    if rank == 0:
        raise ValueError(f"{n} differences are too few for a {confidence:.0%} interval")
    return rank


def confidence_interval(differences: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """The interval of shifts that the signed-rank test does not reject, in the units of ``differences``."""
    averages = walsh_averages(differences)
    rank = interval_rank(len(differences), confidence)
    return averages[rank - 1], averages[-rank]


def ratio(differences: Sequence[float], confidence: float = 0.95) -> Ratio:
    """Log differences as a ratio with its interval and p."""
    low, high = confidence_interval(differences, confidence)
    return Ratio(math.exp(hodges_lehmann(differences)), math.exp(low), math.exp(high), signed_rank_p(differences))


def slot_effect(b_second: Sequence[float], b_first: Sequence[float]) -> float:
    """What it costs to run second in a block, as a ratio: ½(mean d where B was second − mean d where first).

    1.0 where one of the two orders never came up.
    """
    if not b_second or not b_first:
        return 1.0
    return math.exp((fmean(b_second) - fmean(b_first)) / 2)
