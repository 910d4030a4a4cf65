"""The shipped statistics against scipy's, on samples with and without ties and zeros."""

import math

import numpy as np
import pytest
from scipy import stats

from overdeck.bench.statistics import (
    EXACT_UP_TO,
    confidence_interval,
    doubled_ranks,
    hodges_lehmann,
    signed_rank_p,
    signed_rank_z,
)

SAMPLES = 200


def samples(n: int, *, decimals: int | None) -> list[list[float]]:
    """Seeded samples of ``n`` differences about a little more than zero; rounded ones have ties, and zeros."""
    rng = np.random.default_rng([n, decimals or 0])
    drawn = rng.normal(rng.normal(0, 0.4, (SAMPLES, 1)), 1, (SAMPLES, n))
    return (drawn if decimals is None else drawn.round(decimals)).tolist()


@pytest.mark.parametrize("n", [5, 8, 16, 25, 40, 50])
def test_p_of_untied_samples_is_scipys_exact_one(n):
    for sample in samples(n, decimals=None):
        assert signed_rank_p(sample) == pytest.approx(stats.wilcoxon(sample, method="exact").pvalue, rel=1e-9)


@pytest.mark.parametrize("n", [6, 9, 12])
def test_p_of_tied_samples_is_that_of_all_sign_patterns_by_scipys_permutation_test(n):
    for sample in samples(n, decimals=0)[:40]:
        moved = [d for d in sample if d]
        if len(moved) < 2:
            continue
        exact = stats.wilcoxon(moved, method=stats.PermutationMethod(n_resamples=2**13)).pvalue
        assert signed_rank_p(sample) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("decimals", [None, 1])
def test_p_of_large_samples_is_scipys_approximation(decimals):
    for sample in samples(EXACT_UP_TO + 20, decimals=decimals):
        if sum(d != 0 for d in sample) <= EXACT_UP_TO:
            continue
        referee = stats.wilcoxon(sample, method="asymptotic", correction=True).pvalue
        assert signed_rank_p(sample) == pytest.approx(referee, rel=1e-9)


@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_z_is_scipys(decimals):
    for sample in samples(40, decimals=decimals):
        referee = stats.wilcoxon(sample, method="asymptotic").zstatistic
        assert abs(signed_rank_z(sample)) == pytest.approx(abs(referee), abs=1e-9)


@pytest.mark.parametrize("decimals", [None, 0])
def test_midranks_are_scipys(decimals):
    for sample in samples(30, decimals=decimals):
        assert doubled_ranks(sample) == (2 * stats.rankdata(np.abs(sample))).tolist()


@pytest.mark.parametrize("n", [8, 25, 40])
def test_the_interval_is_the_shifts_that_scipys_exact_test_does_not_reject(n):
    for sample in samples(n, decimals=None)[:60]:
        low, high = confidence_interval(sample)
        inside, outside = 1e-9, -1e-9
        for edge, inwards in ((low, 1), (high, -1)):
            kept, refused = (
                stats.wilcoxon(np.array(sample) - edge - inwards * by, method="exact").pvalue
                for by in (inside, outside)
            )
            assert refused <= 0.05 < kept


def test_the_estimate_is_the_median_of_the_walsh_averages_by_numpy():
    for sample in samples(33, decimals=None):
        i, j = np.triu_indices(33)
        values = np.array(sample)
        assert math.isclose(hodges_lehmann(sample), np.median((values[i] + values[j]) / 2))
