"""The gate's looks: the bounds are what their spending rule says, and a look says what it sees."""

import math

import numpy as np
import pytest

from overdeck.bench.sequential import FAIL_Z, LOOKS, PASS_Z, look


def crossing_bounds(alpha: float) -> list[float]:
    """z bounds that spend α·t² at information t, by recursive numerical integration (Armitage and others, 1969).

    ``density`` is that of the score B(t) = z·√t on a grid, of the paths that have crossed nothing yet.
    """
    step, bounds, spent, before = 0.005, [], 0.0, 0.0
    scores = np.arange(-7, 7 + step / 2, step)
    density = None
    for n in LOOKS:
        t = n / LOOKS[-1]
        width = math.sqrt(t - before)
        moves = np.exp(-((scores / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
        density = moves if density is None else np.convolve(density, moves, "same") * step
        above = np.cumsum(density[::-1])[::-1] * step - density * step / 2
        edge = np.interp(spent - alpha * t * t, -above, scores)
        bounds.append(edge / math.sqrt(t))
        density = np.where(scores < edge, density, 0)
        spent, before = alpha * t * t, t
    return bounds


@pytest.mark.parametrize(("alpha", "shipped"), [(0.01, FAIL_Z), (0.05, PASS_Z)])
def test_the_bounds_spend_their_error_as_declared(alpha, shipped):
    assert crossing_bounds(alpha) == pytest.approx(shipped, abs=0.01)


@pytest.mark.parametrize(("alpha", "shipped"), [(0.01, FAIL_Z), (0.05, PASS_Z)])
def test_two_million_random_walks_cross_the_bounds_as_often_as_declared(alpha, shipped):
    paths, rng = 2_000_000, np.random.default_rng(1)
    score, crossed, before = np.zeros(paths), np.zeros(paths, dtype=bool), 0.0
    for n, bound in zip(LOOKS, shipped, strict=True):
        t = n / LOOKS[-1]
        score += rng.standard_normal(paths) * math.sqrt(t - before)
        crossed |= score >= bound * math.sqrt(t)
        spent, before = alpha * t * t, t
        # Bounds of two decimals are off by up to .007: 2.5 % of the error that is spent there.
        assert crossed.mean() == pytest.approx(spent, rel=0.03, abs=3 * math.sqrt(spent / paths))


def test_a_clear_increase_fails_at_the_first_look():
    assert look([math.log(1.5) + i / 1000 for i in range(16)], 0.03).answer == "fail"


def test_no_change_passes_at_the_first_look():
    assert look([i / 1000 for i in range(-8, 8)], 0.03).answer == "pass"


def test_an_increase_at_the_tolerance_is_not_clear():
    assert look([math.log(1.03) + (-1) ** i * (i + 1) / 1000 for i in range(16)], 0.03).answer is None


def test_at_ten_blocks_no_answer_could_be_reached():
    most = 10 * 11 / 4 / math.sqrt(10 * 11 * 21 / 24)
    assert most < FAIL_Z[0]
