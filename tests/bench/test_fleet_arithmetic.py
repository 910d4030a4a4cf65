"""The fleet's sums and their intervals: pure functions, held against closed forms and simulation."""

import math
import random
from collections.abc import Callable
from datetime import timedelta
from statistics import fmean, median

import pytest

from overdeck.bench.fleet.arithmetic import student_t, total_of_means, totals_ratio
from overdeck.bench.fleet.model import FEWEST_SESSIONS, NOTHING, EventCost, Span, fleet_of
from overdeck.bench.fleet.rates import Rate, Rates, Record, Session, given_rates
from overdeck.bench.starts.counter import Count

WEIGHTS = [6.0, 10.0, 2.0]
MEANS_A = [0.3, 0.1, 0.05]
MEANS_B = [0.002, 0.003, 0.002]
TRIALS = 1000


@pytest.mark.parametrize(
    ("freedom", "expected"), [(5, 2.5706), (8, 2.3060), (11, 2.2010), (20, 2.0860), (60, 2.0003), (1e9, 1.9600)]
)
def test_the_quantiles_of_students_t_are_those_of_the_tables(freedom: float, expected: float) -> None:
    assert student_t(freedom) == pytest.approx(expected, rel=0.002)


def test_a_total_is_the_weighted_sum_of_means_and_not_of_medians() -> None:
    spiky = [0.1] * 9 + [2.0]
    assert median(spiky) == 0.1
    assert total_of_means([3.0, 5.0], [spiky, [0.2] * 10]).value == pytest.approx(3 * 0.29 + 5 * 0.2)


def test_an_event_without_a_hook_adds_nothing() -> None:
    sample = [0.1, 0.2, 0.15, 0.1, 0.2, 0.15]
    assert total_of_means([2.0, 9.0], [sample, []]) == total_of_means([2.0], [sample])
    assert total_of_means([9.0], [[]]) == (0, 0, 0)


def test_a_ratio_to_nothing_is_none_and_nothing_over_something_is_zero() -> None:
    sample = [0.1, 0.2, 0.15, 0.1, 0.2, 0.15]
    assert totals_ratio([1.0], [[]], [sample]) is None
    assert totals_ratio([1.0], [sample], [[]]) == (0, 0, 0)


def test_a_ratio_of_equal_samples_is_one_without_doubt() -> None:
    sample = [0.1, 0.2, 0.15, 0.1, 0.2, 0.15]
    assert totals_ratio(WEIGHTS[:1], [sample], [sample]) == (1, 1, 1)


def test_runs_that_were_taken_together_make_the_ratios_interval_narrower() -> None:
    chance = random.Random(1)
    mood = [chance.lognormvariate(0, 0.3) for _ in range(12)]
    a = [0.3 * m * chance.lognormvariate(0, 0.01) for m in mood]
    b = [0.1 * m * chance.lognormvariate(0, 0.01) for m in mood]
    together = totals_ratio([1.0], [a], [b])
    apart = totals_ratio([1.0], [a], [sorted(b)])
    assert together and apart
    assert math.log(together.high / together.low) < math.log(apart.high / apart.low) / 5


def _steady(chance: random.Random, mean: float) -> float:
    return mean * math.exp(chance.gauss(0, 0.05))


def _two_modes(chance: random.Random, mean: float) -> float:
    return mean * (1.8 if chance.random() < 0.3 else 1) * math.exp(chance.gauss(0, 0.02))


_EXPECTED = {_steady: math.exp(0.05**2 / 2), _two_modes: (0.7 + 0.3 * 1.8) * math.exp(0.02**2 / 2)}


def _trials(draw: Callable[[random.Random, float], float], runs: int, covered: Callable[..., bool]) -> float:
    chance = random.Random(20)
    hits = 0
    for _ in range(TRIALS):
        a = [[draw(chance, mean) for _ in range(runs)] for mean in MEANS_A]
        b = [[draw(chance, mean) for _ in range(runs)] for mean in MEANS_B]
        hits += covered(a, b)
    return hits / TRIALS


@pytest.mark.parametrize("draw", _EXPECTED)
@pytest.mark.parametrize("runs", [6, 12, 30])
def test_the_interval_of_a_total_covers_the_truth(draw: Callable[..., float], runs: int) -> None:
    truth = sum(w * m for w, m in zip(WEIGHTS, MEANS_A, strict=True)) * _EXPECTED[draw]

    def covered(a: list[list[float]], _b: object) -> bool:
        _, low, high = total_of_means(WEIGHTS, a)
        return low <= truth <= high

    assert 0.92 <= _trials(draw, runs, covered) <= 0.975


@pytest.mark.parametrize("draw", _EXPECTED)
@pytest.mark.parametrize("runs", [6, 12, 30])
def test_the_interval_of_a_ratio_covers_the_truth(draw: Callable[..., float], runs: int) -> None:
    totals = [sum(w * m for w, m in zip(WEIGHTS, means, strict=True)) for means in (MEANS_A, MEANS_B)]

    def covered(a: list[list[float]], b: list[list[float]]) -> bool:
        found = totals_ratio(WEIGHTS, a, b)
        assert found
        return found.low <= totals[1] / totals[0] <= found.high

    assert 0.92 <= _trials(draw, runs, covered) <= 0.975


@pytest.mark.parametrize("sessions", [8, 30])
def test_the_interval_covers_what_sessions_do_where_they_differ(sessions: int) -> None:
    """Each works for another time, and makes events at another pace, in another mix."""
    costs = {"PreToolUse:Bash": [0.29, 0.3, 0.31] * 4, "Stop": [0.1, 0.11, 0.09] * 4}
    cheap = {word: [x / 10 if word == "Stop" else x / 50 for x in sample] for word, sample in costs.items()}
    chance = random.Random(4)
    truth = 0.3 * 0.5 + 0.1 * 0.05
    ratio = (0.3 / 50 * 0.5 + 0.01 * 0.05) / truth
    hits = [0, 0]
    for _ in range(TRIALS):
        recorded = []
        for _ in range(sessions):
            worked = chance.uniform(500, 5000)
            pace, stops = (chance.lognormvariate(-(0.4**2) / 2, 0.4) for _ in range(2))
            counts = {
                ("PreToolUse", "Bash"): round(worked * 0.5 * pace),
                ("Stop", ""): round(worked * 0.05 * stops),
            }
            recorded.append(Session(worked, counts))
        record = Record(timedelta(days=7), tuple(recorded))
        worked_s = record.worked.total_seconds()
        rows = [
            Rate(*moment, sum(one.counts[moment] for one in recorded) / worked_s)
            for moment in (("PreToolUse", "Bash"), ("Stop", ""))
        ]
        fleet = fleet_of(
            [(name, name, {word: EventCost(tuple(x), tuple(x)) for word, x in of_arm.items()})
             for name, of_arm in (("a", costs), ("b", cheap))],
            Rates(tuple(rows), "recorded", record), sessions=1, processors=1,
        )  # fmt: skip
        hits[0] += fleet.arms[0].cores.low <= truth <= fleet.arms[0].cores.high
        assert fleet.arms[1].ratio
        hits[1] += fleet.arms[1].ratio.low <= ratio <= fleet.arms[1].ratio.high
    assert [0.9 <= hit / TRIALS <= 0.98 for hit in hits] == [True, True], hits


def test_few_sessions_cannot_tell_how_much_they_differ_and_do_not_count() -> None:
    sample = (0.29, 0.3, 0.31) * 4
    costs = {"Stop": EventCost(sample, sample)}
    widths = []
    for count in (FEWEST_SESSIONS - 1, FEWEST_SESSIONS):
        sessions = tuple(Session(100.0 * n, {("Stop", ""): 7}) for n in range(1, count + 1))
        rates = Rates((Rate("Stop", "", 0.1),), "recorded", Record(timedelta(days=7), sessions))
        (arm,) = fleet_of([("a", "a", costs)], rates, sessions=1, processors=1).arms
        widths.append(arm.cores.high / arm.cores.low)
    assert widths[0] < 1.1
    assert widths[1] > 1.5


def test_a_percentile_bootstrap_would_cover_less_than_it_says() -> None:
    """Why it is not used; and the check above sees such a fault."""
    truth = sum(w * m for w, m in zip(WEIGHTS, MEANS_A, strict=True)) * _EXPECTED[_steady]
    again = random.Random(3)

    def covered(a: list[list[float]], _b: object) -> bool:
        totals = sorted(
            sum(w * fmean(again.choices(sample, k=len(sample))) for w, sample in zip(WEIGHTS, a, strict=True))
            for _ in range(80)
        )
        return totals[2] <= truth <= totals[77]

    assert _trials(_steady, 6, covered) < 0.92


def _cost(cpu_s: float, starts: Count | None = None) -> EventCost:
    return EventCost((cpu_s,) * 6, (cpu_s,) * 6, starts, starts)


def _fleet_rates() -> Rates:
    return given_rates(["PreToolUse:Bash=0.5", "Stop=0.1"])


def test_cores_are_sessions_times_rate_times_mean_cpu() -> None:
    costs = {"PreToolUse:Bash": _cost(0.3, Count(15, 15)), "Stop": _cost(0.1, Count(2, 3))}
    fleet = fleet_of([("a", "a", costs)], _fleet_rates(), sessions=20, processors=4)
    (arm,) = fleet.arms
    assert arm.cores.value == pytest.approx(20 * (0.5 * 0.3 + 0.1 * 0.1))
    assert arm.share.value == pytest.approx(arm.cores.value / 4)
    assert arm.process_starts_s == Span(20 * (0.5 * 15 + 0.1 * 2), 20 * (0.5 * 15 + 0.1 * 3))


def test_starts_that_nobody_counted_are_unknown_and_not_zero() -> None:
    costs = {"PreToolUse:Bash": _cost(0.3, Count(15, 15)), "Stop": _cost(0.1)}
    (arm,) = fleet_of([("a", "a", costs)], _fleet_rates(), sessions=20, processors=4).arms
    assert arm.process_starts_s is None


def test_an_event_that_one_arm_was_not_measured_on_is_in_no_arms_sum() -> None:
    a = {"PreToolUse:Bash": _cost(0.3), "Stop": _cost(0.1)}
    b = {"PreToolUse:Bash": _cost(0.03)}
    fleet = fleet_of([("a", "a", a), ("b", "b", b)], _fleet_rates(), sessions=1, processors=1)
    assert [rate.word for rate in fleet.unmeasured] == ["Stop"]
    assert fleet.arms[0].cores.value == pytest.approx(0.15)
    assert fleet.arms[1].ratio is not None and fleet.arms[1].ratio.value == pytest.approx(0.1)


def test_an_event_that_starts_no_hook_costs_nothing_and_starts_nothing() -> None:
    a = {"PreToolUse:Bash": _cost(0.3, Count(15, 15)), "Stop": _cost(0.1, Count(1, 1))}
    b = {"PreToolUse:Bash": _cost(0.3, Count(15, 15)), "Stop": NOTHING}
    first, second = fleet_of([("a", "a", a), ("b", "b", b)], _fleet_rates(), sessions=1, processors=1).arms
    assert first.cores.value - second.cores.value == pytest.approx(0.01)
    assert second.process_starts_s == Span(7.5, 7.5)
