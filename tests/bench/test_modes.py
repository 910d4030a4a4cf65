"""Two modes are told where an arm does two things, and seldom where it does one badly."""

import numpy as np
import pytest

from overdeck.bench.modes import two_modes

TRIALS = 1000


def drawn(name: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """``n`` times of an arm that does one thing."""
    logs = {
        "narrow bell": lambda: rng.normal(0, 0.02, n),
        "wide bell": lambda: rng.normal(0, 0.3, n),
        "flat top": lambda: rng.uniform(0, 0.3, n),
        "exponential tail": lambda: rng.exponential(0.2, n),
        "heavy tails": lambda: 0.02 * rng.standard_t(2, n),
    }[name]()
    return np.exp(logs)


@pytest.mark.parametrize("n", [24, 40, 100])
@pytest.mark.parametrize("name", ["narrow bell", "wide bell", "flat top", "exponential tail", "heavy tails"])
def test_one_mode_is_seldom_taken_for_two(name, n):
    rng = np.random.default_rng(n)
    false = sum(two_modes(drawn(name, rng, n).tolist()) is not None for _ in range(TRIALS))
    assert false / TRIALS <= 0.02


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_two_modes_seven_spreads_apart_are_mostly_seen_and_named(share):
    rng = np.random.default_rng(7)
    found = []
    for _ in range(200):
        times = 10 * np.exp(rng.normal(0, 0.02, 40) + 0.14 * (rng.random(40) < share))
        found.append(two_modes(times.tolist()))
    named = [modes for modes in found if modes]
    assert len(named) >= 170
    assert all(9.7 < low < 10.3 and 11.1 < high < 11.9 for low, high in named)


def test_a_few_outliers_are_no_mode():
    assert two_modes([10.0, 10.1, 9.9, 10.05] * 9 + [30.0, 31.0, 30.5]) is None


def test_few_runs_tell_nothing():
    assert two_modes([10.0, 10.1] * 6 + [20.0, 20.1] * 5) is None
