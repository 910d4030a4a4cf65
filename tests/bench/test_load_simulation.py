"""Seeded simulations of bad machines: the random order keeps its promise, and its rivals break it (teeth)."""

import math
import random
from collections.abc import Iterator

import pytest

from overdeck.bench.compare import ALPHA
from overdeck.bench.sequential import LOOKS, look
from overdeck.bench.statistics import confidence_interval, signed_rank_p, signed_rank_z

TRIALS = 3000
MARGIN = 3 * math.sqrt(ALPHA * (1 - ALPHA) / TRIALS)


def slots(rng: random.Random, load: str) -> Iterator[float]:
    """Log times of one run after another of the very same hook under a ``load``."""
    busy, phase, drift = False, rng.random() * 2 * math.pi, rng.choice((-1, 1)) * 0.6 / 160
    i = 0
    while True:
        time = rng.gauss(0, 0.015)
        if load == "bursts":
            busy = rng.random() < (0.95 if busy else 0.03)
            time += busy * (math.log(1.8) + rng.gauss(0, 0.25))
        elif load == "spikes":
            time += rng.gauss(0, 0.02) / math.sqrt(max(1e-3, rng.expovariate(1)))  # t with 2 degrees of freedom
            time += (rng.random() < 0.05) * min(rng.paretovariate(1.2) - 1, 20) * 0.3
        elif load == "drift":
            time += i * drift
        elif load == "period 4":
            time += math.copysign(0.25, math.sin(i * math.pi / 2 + phase))
        elif load == "slow second slot":
            time += 0.03 * (i % 2)
        yield time
        i += 1


LOADS = ("idle", "bursts", "spikes", "drift", "period 4", "slow second slot")


def pairs(rng: random.Random, load: str, n: int, *, coin: bool = True, increase: float = 0.0) -> list[float]:
    """``n`` log ratios B/A of arms that differ by ``increase``; without ``coin`` B always runs second."""
    series = slots(rng, load)
    ratios = []
    for _ in range(n):
        first, second = next(series), next(series)
        b_second = rng.random() < 0.5 if coin else True
        ratios.append((second - first if b_second else first - second) + math.log1p(increase))
    return ratios


@pytest.mark.parametrize("load", LOADS)
def test_identical_arms_get_a_verdict_in_at_most_one_run_of_a_hundred(load):
    rng = random.Random(f"A/A {load}")
    false = sum(signed_rank_p(pairs(rng, load, 40)) < ALPHA for _ in range(TRIALS))
    assert false / TRIALS <= ALPHA + MARGIN


def test_a_fixed_order_would_call_a_slow_second_slot_a_regression():
    rng = random.Random("fixed")
    false = sum(signed_rank_p(pairs(rng, "slow second slot", 40, coin=False)) < ALPHA for _ in range(100))
    assert false == 100


@pytest.mark.parametrize("load", ["idle", "bursts", "spikes"])
def test_the_interval_covers_the_true_ratio_as_often_as_it_says(load):
    rng = random.Random(f"coverage {load}")
    covered = 0
    for _ in range(400):
        low, high = confidence_interval(pairs(rng, load, 25, increase=0.05))
        covered += low <= math.log(1.05) <= high
    assert covered / 400 == pytest.approx(0.95, abs=0.035)


def gate_says(ratios: list[float], tolerance: float) -> str | None:
    """The answer of the first look that has one."""
    return next((seen.answer for n in LOOKS if (seen := look(ratios[:n], tolerance)).answer), None)


@pytest.mark.parametrize("load", LOADS)
def test_one_batch_of_the_gate_hardly_ever_fails_a_tree_that_did_not_change(load):
    rng = random.Random(f"gate {load}")
    fails = sum(gate_says(pairs(rng, load, LOOKS[-1]), 0.03) == "fail" for _ in range(500))
    # α = .01 is spent at the tolerance itself; a wide load makes no difference look like it.
    assert fails / 500 <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / 500)


@pytest.mark.parametrize("load", ["idle", "bursts"])
def test_an_increase_at_the_tolerance_fails_at_most_as_often_as_alpha(load):
    rng = random.Random(f"boundary {load}")
    fails = sum(gate_says(pairs(rng, load, LOOKS[-1], increase=0.03), 0.03) == "fail" for _ in range(500))
    assert fails / 500 <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / 500)


def test_the_gate_sees_ten_percent_on_a_quiet_machine_at_once():
    rng = random.Random("power")
    assert all(gate_says(pairs(rng, "idle", LOOKS[0], increase=0.10), 0.03) == "fail" for _ in range(100))


def test_a_gate_that_peeks_at_a_fixed_threshold_would_break_the_promise():
    rng = random.Random("peek")
    fails = 0
    for _ in range(500):
        over = [d - math.log1p(0.03) for d in pairs(rng, "bursts", LOOKS[-1], increase=0.03)]
        fails += any(signed_rank_z(over[:n]) > 2.326 for n in range(10, LOOKS[-1] + 1, 2))
    assert fails / 500 > 0.04
