"""Ratios of means and of tails: their intervals hold the truth about as often as they say."""

import numpy as np
import pytest
from loads import series

from overdeck.bench.bootstrap import bootstrap_ratio, mean, p90


def arms(load: str, trials: int, pairs: int) -> list[tuple[list[float], list[float]]]:
    """Times of A and of a B that takes 1.1 times as long, in blocks of random order."""
    rng = np.random.default_rng(11)
    times = np.exp(series(load, rng, trials, 2 * pairs)).reshape(trials, pairs, 2)
    flipped = rng.random((trials, pairs, 1)) < 0.5
    times = np.where(flipped, times[:, :, ::-1], times)
    return [(one[:, 0].tolist(), (1.1 * one[:, 1]).tolist()) for one in times]


@pytest.mark.parametrize("load", ["idle", "bursts"])
@pytest.mark.parametrize("statistic", [mean, p90])
def test_the_interval_covers_the_true_ratio_about_as_often_as_it_says(load, statistic):
    covered = 0
    for number, (a, b) in enumerate(arms(load, 50, 40)):
        _, low, high = bootstrap_ratio(a, b, statistic, seed=number)
        covered += low <= 1.1 <= high
    assert covered >= 43


def test_a_seed_gives_the_same_interval_and_another_one_a_little_different():
    a, b = arms("idle", 1, 20)[0]
    assert bootstrap_ratio(a, b, mean, seed=1) == bootstrap_ratio(a, b, mean, seed=1)
    assert bootstrap_ratio(a, b, mean, seed=1) != bootstrap_ratio(a, b, mean, seed=2)


def test_the_tail_is_seen_where_the_middle_is_not():
    a = [10.0] * 40
    b = [10.0] * 34 + [30.0] * 6
    assert bootstrap_ratio(a, b, p90, seed=1).value == pytest.approx(3.0)
    assert bootstrap_ratio(a, b, mean, seed=1).value == pytest.approx(1.3)


def test_p90_is_interpolated():
    assert p90([*range(1, 11)]) == pytest.approx(9.1)
    assert p90([5.0]) == 5.0
