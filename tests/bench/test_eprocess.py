"""Evidence that may be looked at after every block: seeded simulations under bad loads, and what can be computed."""

import math

import numpy as np
import pytest
from limits import LimitBroken, at_most
from loads import SYNTHETIC, TRACES, log_ratios, series

from overdeck.bench.eprocess import CLIP, EProcess, anytime_interval, evidence, fewest, log_e, scale
from overdeck.bench.statistics import signed_rank_p

ALPHA = 0.01
TRIALS = 2000


def blocks(load: str, trials: int, *, increase: float = 0.0, pairs: int = 80) -> list[list[float]]:
    """``trials`` lists of ``pairs`` log ratios under ``load``."""
    rng = np.random.default_rng(list(f"until decided {load} {pairs} {increase}".encode()))
    return log_ratios(series(load, rng, trials, 2 * pairs), rng, increase=increase).tolist()


@pytest.mark.parametrize("load", [*SYNTHETIC, *TRACES])
def test_identical_arms_are_decided_at_most_as_often_as_alpha_however_often_one_looks(load):
    at_most(ALPHA, [evidence(differences, ALPHA).decision is not None for differences in blocks(load, TRIALS)])


def test_looking_at_the_signed_rank_test_after_every_block_breaks_that_limit():
    hits = [
        any(signed_rank_p(differences[:n]) < ALPHA for n in range(8, 51))
        for differences in blocks("bursty wall", 500, pairs=50)
    ]
    with pytest.raises(LimitBroken):
        at_most(ALPHA, hits)


@pytest.mark.parametrize(
    ("load", "most"),
    [("idle", 20), ("drift", 20), ("slow second slot", 30), ("bursts", 60), ("idle cpu", 25), ("bursty cpu", 30)],
)
def test_five_percent_are_found_in_few_blocks(load, most):
    found = [evidence(differences, ALPHA).decision for differences in blocks(load, 60, increase=0.05, pairs=200)]
    decided = [decision for decision in found if decision]
    assert all(decision.direction == "slower" for decision in decided)
    assert len(decided) >= 55
    assert sum(decision.pairs for decision in decided) / len(decided) <= most


@pytest.mark.parametrize("load", ["idle", "bursts", "spikes"])
def test_the_interval_where_one_stopped_holds_the_true_ratio(load):
    covered = 0
    for differences in blocks(load, 60, increase=0.05):
        decision = evidence(differences, ALPHA).decision
        low, high = anytime_interval(differences[: decision.pairs if decision else None])
        covered += low <= math.log(1.05) <= high
    assert covered >= 57


def test_the_evidence_is_that_of_the_formula():
    total, square, rho = 7.5, 11.0, 2.5
    normal = math.erfc(-total / math.sqrt(square + rho) / math.sqrt(2)) / 2
    by_hand = 2 * math.sqrt(rho / (square + rho)) * math.exp(total**2 / (2 * (square + rho))) * normal
    assert math.exp(log_e(total, square)) == pytest.approx(by_hand)
    assert log_e(-400.0, 100.0) < 0, "far on the other side, where the tail of the bell is no longer a float"


def test_the_scale_knows_only_the_past_and_is_three_percent_at_first():
    assert [scale([]), scale([1.0] * 4)] == [0.03, 0.03]
    assert scale([0.0, 0.1, 0.2, 0.3, 0.4]) == pytest.approx(1.4826 * 0.1)


def test_a_bet_is_laid_on_the_scale_of_the_blocks_before_it():
    differences = [0.03, 0.02, 0.04, 0.03, 0.05, 0.02, -0.01, 0.04]
    bets = [max(-2.5, min(2.5, d / scale(differences[:i]))) for i, d in enumerate(differences)]
    most = max(
        log_e(sign * sum(bets[:n]), sum(bet * bet for bet in bets[:n])) for n in range(1, 9) for sign in (1, -1)
    )
    assert evidence(differences, ALPHA).p == pytest.approx(min(1.0, 2 * math.exp(-most)))
    assert evidence(differences, ALPHA).p < 1


def test_what_comes_later_changes_no_evidence_before_it():
    differences = blocks("bursts", 1, increase=0.05, pairs=40)[0]
    one_by_one, seen = EProcess(ALPHA), []
    for difference in differences:
        one_by_one.add(difference)
        seen.append(one_by_one.p)
    assert seen == [evidence(differences[: n + 1], ALPHA).p for n in range(40)]


def test_a_single_wild_block_decides_nothing():
    assert evidence([50.0], ALPHA).decision is None
    assert log_e(CLIP, CLIP**2) == pytest.approx(log_e(*_after_one(50.0)))


def _after_one(difference: float) -> tuple[float, float]:
    bet = min(CLIP, difference / scale([]))
    return bet, bet * bet


@pytest.mark.parametrize("alpha", [0.01, 0.005])
def test_fewer_blocks_than_the_fewest_cannot_decide_and_so_many_can(alpha):
    n = fewest(alpha)
    assert evidence([9.0] * (n - 1), alpha).decision is None
    decision = evidence([9.0] * n, alpha).decision
    assert decision is not None and decision.pairs == n


def test_faster_is_slower_with_the_signs_turned():
    differences = blocks("idle", 1, increase=0.05, pairs=40)[0]
    slower, faster = evidence(differences, ALPHA), evidence([-d for d in differences], ALPHA)
    assert slower.decision is not None and faster.decision is not None
    assert (slower.decision.direction, faster.decision.direction) == ("slower", "faster")
    assert slower.decision.pairs == faster.decision.pairs
    low, high = anytime_interval(differences)
    assert anytime_interval([-d for d in differences]) == pytest.approx((-high, -low))
