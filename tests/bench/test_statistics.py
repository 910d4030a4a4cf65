"""The statistics against brute force, published values and their own laws."""

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.bench.statistics import (
    confidence_interval,
    doubled_ranks,
    hodges_lehmann,
    interval_rank,
    ratio,
    signed_rank_counts,
    signed_rank_p,
    signed_rank_z,
    slot_effect,
    walsh_averages,
)

values = st.integers(-10_000, 10_000).map(lambda n: n / 1000)
samples = st.lists(values, min_size=6, max_size=30)


def p_by_enumeration(differences: list[float]) -> float:
    """Two-sided p over all 2**n sign patterns of the non-zero differences."""
    moved = [d for d in differences if d]
    ranks = doubled_ranks(moved)
    middle = sum(ranks) / 2
    seen = abs(sum(r for r, d in zip(ranks, moved, strict=True) if d > 0) - middle)
    patterns = list(itertools.product((0, 1), repeat=len(moved)))
    hits = sum(abs(sum(r for r, s in zip(ranks, signs, strict=True) if s) - middle) >= seen for signs in patterns)
    return hits / len(patterns)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 50])
def test_the_exact_table_counts_every_sign_pattern_once_and_is_symmetric(n):
    counts = signed_rank_counts(n)
    assert len(counts) == n * (n + 1) // 2 + 1
    assert sum(counts) == 2**n
    assert counts == counts[::-1]


@given(st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=10))
def test_p_equals_enumeration_of_all_sign_patterns_with_ties_and_zeros(differences):
    assert signed_rank_p(differences) == pytest.approx(p_by_enumeration(differences))


def test_p_of_published_examples():
    # Hollander and Wolfe, depression scale factors, n = 9, T+ = 5: one-sided .020.
    depression = [-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010]
    assert signed_rank_p(depression) == pytest.approx(0.0390625)
    # Darwin's Zea mays, n = 15: two-sided exact p .041 (R: wilcox.test).
    darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert signed_rank_p([float(d) for d in darwin]) == pytest.approx(0.041260, abs=1e-6)


@pytest.mark.parametrize("centre", [0.1, 0.2, 0.4])
def test_the_normal_approximation_is_close_to_the_exact_table(centre):
    rng = random.Random(7)
    sixty = [rng.gauss(centre, 1) for _ in range(60)]
    positive = sum(rank // 2 for rank, d in zip(doubled_ranks(sixty), sixty, strict=True) if d > 0)
    counts = signed_rank_counts(60)
    exact = 2 * sum(counts[: min(positive, 1830 - positive) + 1]) / 2**60
    assert signed_rank_p(sixty) == pytest.approx(exact, rel=0.25)


def test_a_sample_without_any_difference_has_p_one():
    assert signed_rank_p([0.0] * 12) == 1.0
    assert signed_rank_z([0.0] * 12) == 0.0


@given(samples)
def test_swapping_the_arms_keeps_p_and_mirrors_the_estimate(differences):
    swapped = [-d for d in differences]
    assert signed_rank_p(swapped) == signed_rank_p(differences)
    assert signed_rank_z(swapped) == pytest.approx(-signed_rank_z(differences))
    assert hodges_lehmann(swapped) == pytest.approx(-hodges_lehmann(differences))
    low, high = confidence_interval(differences)
    assert confidence_interval(swapped) == pytest.approx((-high, -low))


@given(samples, values, st.integers(1, 8))
def test_the_estimate_and_its_interval_move_and_stretch_with_the_data(differences, shift, scale):
    moved = [scale * d + shift for d in differences]
    assert hodges_lehmann(moved) == pytest.approx(scale * hodges_lehmann(differences) + shift)
    low, high = confidence_interval(differences)
    assert confidence_interval(moved) == pytest.approx((scale * low + shift, scale * high + shift))


@given(samples, st.sampled_from([0.9, 0.95]))
def test_the_interval_contains_the_estimate(differences, confidence):
    low, high = confidence_interval(differences, confidence)
    assert low <= hodges_lehmann(differences) <= high


@given(
    st.lists(values, min_size=8, max_size=30, unique=True).filter(lambda ds: len({abs(d) for d in ds}) == len(ds))
)
def test_the_interval_excludes_zero_exactly_when_the_test_rejects(differences):
    differences = [d for d in differences if d]
    averages = walsh_averages(differences)
    if 0 in averages or len(differences) < 8:
        return
    low, high = confidence_interval(differences)
    assert (low > 0 or high < 0) == (signed_rank_p(differences) <= 0.05)


@pytest.mark.parametrize(("n", "rank"), [(6, 1), (8, 4), (10, 9), (15, 26), (20, 53), (25, 90), (50, 435)])
def test_interval_ranks_are_those_of_the_published_critical_values(n, rank):
    # Tables give the largest T with two-sided α ≤ .05: 0, 3, 8, 25, 52, 89, 434. The rank is one more.
    assert interval_rank(n, 0.95) == rank


def test_the_approximate_interval_rank_continues_the_exact_one():
    assert interval_rank(51, 0.95) - interval_rank(50, 0.95) in range(15, 23)


def test_too_few_differences_have_no_interval():
    assert interval_rank(6, 0.95) == 1
    with pytest.raises(ValueError, match="too few"):
        interval_rank(5, 0.95)


def test_a_rank_whose_tail_is_exactly_the_error_allowed_is_taken():
    assert interval_rank(6, 1 - 2 / 64) == 1


def test_tied_values_share_the_mean_of_their_ranks():
    assert doubled_ranks([1.0, -1.0, 2.0, 0.5, 2.0, 2.0]) == [5, 5, 10, 2, 10, 10]


def test_a_ratio_reads_as_times():
    estimate = ratio([math.log(2)] * 10)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((2, 2, 2))
    assert estimate.p == pytest.approx(2 / 1024)


def test_the_slot_effect_is_what_running_second_costs():
    # B is 5 % dearer; whoever runs second pays 3 % more.
    second, first = math.log(1.05 * 1.03), math.log(1.05 / 1.03)
    assert slot_effect([second] * 3, [first] * 5) == pytest.approx(1.03)
    assert slot_effect([], [first]) == 1.0
