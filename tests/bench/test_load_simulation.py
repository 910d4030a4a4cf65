"""Seeded simulations of bad machines, replayed and invented: what the verdicts promise holds, and rivals break it.

The verdicts are the shipped functions'; numpy only makes the loads. The limits are those of the design's own
simulations; every limit that guards a promise is shown to have teeth by a variant that breaks it.
"""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from limits import LimitBroken, at_least, at_most, mean_at_most, within
from loads import SYNTHETIC, TRACES, log_ratios, series
from scipy.stats import ttest_ind

from overdeck.bench.compare import ALPHA
from overdeck.bench.sequential import LOOKS, Look, look
from overdeck.bench.statistics import confidence_interval, signed_rank_p, signed_rank_z

TRIALS = 4000
LOADS = (*TRACES, *SYNTHETIC)
CAP = LOOKS[-1]
TAU = 0.03
WALL_TAU = 0.10


def blocks(
    load: str, what: str, pairs: int, *, trials: int = TRIALS, increase: float = 0.0, coin: bool = True
) -> list[list[float]]:
    """``trials`` lists of ``pairs`` log ratios under ``load``; ``what`` names the simulation and so seeds it."""
    rng = np.random.default_rng(list(f"{what} {load} {pairs} {increase}".encode()))
    return log_ratios(series(load, rng, trials, 2 * pairs), rng, increase=increase, coin=coin).tolist()


def batch(ratios: Sequence[float], tolerance: float) -> Look:
    """One batch of the gate: the first look that has an answer, or the last."""
    seen = Look(None, 0, 0.0)
    for n in LOOKS:
        seen = look(ratios[:n], tolerance)
        if seen.answer:
            break
    return seen


def fails(simulated: Sequence[Sequence[float]], tolerance: float) -> list[bool]:
    return [batch(ratios, tolerance).answer == "fail" for ratios in simulated]


def called_different(simulated: Sequence[Sequence[float]]) -> list[bool]:
    return [signed_rank_p(ratios) < ALPHA for ratios in simulated]


# ab


@pytest.mark.parametrize("pairs", [20, 40, 60, 80])
@pytest.mark.parametrize("load", LOADS)
def test_identical_arms_get_a_verdict_in_at_most_one_comparison_of_a_hundred(load, pairs):
    at_most(ALPHA, called_different(blocks(load, "A/A", pairs)))


@pytest.mark.parametrize("load", LOADS)
def test_the_interval_covers_the_true_ratio_as_often_as_it_says(load):
    truth = math.log(1.05)
    intervals = map(confidence_interval, blocks(load, "coverage", 40, increase=0.05))
    within(0.95, 0.02, [low <= truth <= high for low, high in intervals])


def test_the_limit_on_coverage_is_broken_by_a_ninety_percent_interval():
    intervals = [confidence_interval(ratios, 0.90) for ratios in blocks("bursty cpu", "90 %", 40)]
    with pytest.raises(LimitBroken):
        within(0.95, 0.02, [low <= 0 <= high for low, high in intervals])


def test_a_fixed_order_calls_a_slow_second_slot_a_regression_every_time():
    hits = called_different(blocks("slow second slot", "fixed", 40, trials=1000, coin=False))
    with pytest.raises(LimitBroken):
        at_most(ALPHA, hits)
    assert all(hits)


@pytest.mark.parametrize("load", ["bursty cpu", "bursty wall"])
def test_one_arm_after_the_other_and_an_unpaired_t_test_break_the_limit_under_bursts(load):
    runs = np.exp(series(load, np.random.default_rng(5), 2000, 80))
    welch = ttest_ind(runs[:, :40], runs[:, 40:], axis=1, equal_var=False)
    with pytest.raises(LimitBroken):
        at_most(ALPHA, (welch.pvalue < ALPHA).tolist())


# gate


@pytest.mark.parametrize("load", LOADS)
def test_the_gate_fails_an_unchanged_tree_at_most_once_in_a_thousand(load):
    first, second = (fails(blocks(load, f"unchanged {batch}", CAP), TAU) for batch in (1, 2))
    at_most(0.001, [a and b for a, b in zip(first, second, strict=True)], errors=0)
    at_most(ALPHA, first)


@pytest.mark.parametrize("load", LOADS)
def test_an_increase_at_the_tolerance_is_called_a_failure_or_a_pass_no_oftener_than_declared(load):
    answers = [batch(ratios, TAU).answer for ratios in blocks(load, "boundary", CAP, increase=TAU)]
    at_most(ALPHA, [answer == "fail" for answer in answers])
    at_most(0.05, [answer == "pass" for answer in answers])


@pytest.mark.parametrize("load", ["bursty wall", "idle wall"])
def test_the_wider_tolerance_of_wall_time_keeps_its_promise_too(load):
    at_most(ALPHA, fails(blocks(load, "wall boundary", CAP, increase=WALL_TAU), WALL_TAU))
    at_most(0.001, fails(blocks(load, "wall unchanged", CAP), WALL_TAU), errors=0)


@pytest.mark.parametrize(
    ("load", "increase", "share", "pairs"),
    [
        ("bursty cpu", 0.05, 0.98, 39),
        ("bursty cpu", 0.10, 1.00, 21),
        ("bursty wall", 0.05, 0.51, 67),
        ("bursty wall", 0.10, 0.95, 42),
    ],
)
def test_one_batch_finds_a_real_increase_as_often_and_as_early_as_designed(load, increase, share, pairs):
    seen = [batch(ratios, TAU) for ratios in blocks(load, "power", CAP, increase=increase)]
    at_least(share, [look.answer == "fail" for look in seen])
    mean_at_most(pairs + 0.5, [look.pairs for look in seen])  # the design's figure is rounded


def test_the_gate_sees_ten_percent_on_a_quiet_machine_at_the_first_look():
    at_least(
        1.0, [look(ratios, TAU).answer == "fail" for ratios in blocks("idle", "soon", LOOKS[0], increase=0.10)]
    )


def peeking(ratios: Sequence[float], tolerance: float) -> bool:
    """A gate that looks after every second block at the bound for a single look."""
    over = [d - math.log1p(tolerance) for d in ratios]
    return any(signed_rank_z(over[:n]) > 2.326 for n in range(10, CAP + 1, 2))


@pytest.mark.parametrize("load", ["bursts", "bursty cpu"])
def test_a_gate_that_peeks_at_a_fixed_bound_breaks_the_limit(load):
    hits = [peeking(ratios, TAU) for ratios in blocks(load, "peek", CAP, trials=2000, increase=TAU)]
    with pytest.raises(LimitBroken):
        at_most(ALPHA, hits)
    within(0.06, 0.02, hits)
