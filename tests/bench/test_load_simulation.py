"""Seeded simulations of bad machines, replayed and invented: what `ab` promises holds, and its rivals break it.

The verdicts are the shipped functions'; numpy only makes the loads. The limits are those of the design's own
simulations; every limit that guards a promise is shown to have teeth by a variant that breaks it.
"""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from limits import LimitBroken, at_most, within
from loads import LOADS, blocks, series
from scipy.stats import ttest_ind

from overdeck.bench.outcome import ALPHA
from overdeck.bench.statistics import confidence_interval, signed_rank_p

TRIALS = 4000


def called_different(simulated: Sequence[Sequence[float]]) -> list[bool]:
    return [signed_rank_p(ratios) < ALPHA for ratios in simulated]


@pytest.mark.parametrize("pairs", [20, 40, 60, 80])
@pytest.mark.parametrize("load", LOADS)
def test_identical_arms_get_a_verdict_in_at_most_one_comparison_of_a_hundred(load, pairs):
    at_most(ALPHA, called_different(blocks(load, "A/A", pairs, trials=TRIALS)))


@pytest.mark.parametrize("load", LOADS)
def test_the_interval_covers_the_true_ratio_as_often_as_it_says(load):
    truth = math.log(1.05)
    intervals = map(confidence_interval, blocks(load, "coverage", 40, increase=0.05, trials=TRIALS))
    within(0.95, 0.02, [low <= truth <= high for low, high in intervals])


def test_the_limit_on_coverage_is_broken_by_a_ninety_percent_interval():
    intervals = [confidence_interval(ratios, 0.90) for ratios in blocks("bursty cpu", "90 %", 40, trials=TRIALS)]
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
