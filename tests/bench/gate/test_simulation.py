"""The gate on bad machines, replayed and invented: how often it is wrong, how soon it is right, and what breaks it.

`judge_times` is asked, as a gate asks it, with blocks of both metrics that a trace's own runs make; where only one
batch matters, the looks of its group-sequential test alone.
"""

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
from limits import LimitBroken, at_least, at_most, mean_at_most, within
from loads import LOADS, blocks, generator, series
from runs import made_run

from overdeck.bench.blocks import Block
from overdeck.bench.gate.scenario import Tolerance
from overdeck.bench.gate.verdict import Timed, judge_times
from overdeck.bench.sequential import LOOKS, Look, look
from overdeck.bench.statistics import signed_rank_z

TRIALS = 4000
ALPHA = 0.01
CAP = LOOKS[-1]
TAU = 0.03
_NOTHING = made_run()


class Machine:
    """Batches of blocks cut out of a trace, each where it happens to fall; head's CPU time is ``cpu`` dearer."""

    def __init__(self, trace: str, batches: int, *, cpu: float = 0.0, wall: float = 0.0) -> None:
        name = f"gate {trace} {cpu} {wall}"
        # The same draws twice: wall and CPU time of the same runs.
        self.wall, self.cpu = (
            np.exp(series(f"{trace} {metric}", generator(name), batches, 2 * CAP)) for metric in ("wall", "cpu")
        )
        self.head_second = generator(f"{name} coins").random((batches, CAP)) < 0.5
        self.dearer = (1.0, 1.0 + cpu), (1.0, 1.0 + wall)
        self.used = 0

    @contextmanager
    def source(self, _: int) -> Iterator[Iterator[Block]]:
        yield self._blocks(self.used)
        self.used += 1

    def _blocks(self, batch: int) -> Iterator[Block]:
        for number, head_second in enumerate(self.head_second[batch].tolist()):
            order = (0, 1) if head_second else (1, 0)
            runs = [_NOTHING, _NOTHING]
            for slot, arm in enumerate(order):
                cpu = self.cpu[batch, 2 * number + slot] * self.dearer[0][arm]
                wall = self.wall[batch, 2 * number + slot] * self.dearer[1][arm]
                runs[arm] = _NOTHING._replace(wall_ns=round(wall * 1000), user_us=round(cpu))
            yield Block(number, order, (runs[0], runs[1]))


def gates(trace: str, trials: int, *, cpu: float = 0.0, wall: float = 0.0) -> list[Timed]:
    """What the gate says of head, ``trials`` times, with the tolerances that it has without a gate file."""
    machine = Machine(trace, 2 * trials, cpu=cpu, wall=wall)
    return [judge_times(machine.source, Tolerance(), random.Random(trial)) for trial in range(trials)]


def failed(gate: Timed) -> bool:
    return any(row.verdict == "fail" for row in gate.rows.values())


@pytest.mark.slow
@pytest.mark.parametrize("trace", ["bursty", "idle"])
def test_the_gate_fails_an_unchanged_tree_at_most_once_in_a_thousand(trace):
    at_most(0.001, [failed(gate) for gate in gates(trace, 2000)], errors=0)


@pytest.mark.slow
@pytest.mark.parametrize("trace", ["bursty", "idle"])
def test_the_gate_fails_a_tree_that_is_at_both_tolerances_at_most_once_in_a_thousand(trace):
    at_most(0.001, [failed(gate) for gate in gates(trace, 2000, cpu=0.03, wall=0.10)], errors=0)


@pytest.mark.slow
@pytest.mark.parametrize(("cpu", "share"), [(0.05, 0.98**2), (0.10, 1.0)])
def test_the_gate_fails_a_dearer_tree_in_both_batches_as_often_as_designed(cpu, share):
    at_least(share, [gate.rows["cpu"].verdict == "fail" for gate in gates("bursty", 2000, cpu=cpu)])


# One batch of one metric.


def batch(ratios: Sequence[float], tolerance: float) -> Look:
    """The first look that has an answer, or the last."""
    seen = Look(None, 0, 0.0)
    for n in LOOKS:
        seen = look(ratios[:n], tolerance)
        if seen.answer:
            break
    return seen


@pytest.mark.parametrize("load", LOADS)
def test_two_batches_fail_an_unchanged_tree_at_most_once_in_a_thousand(load):
    both = [
        [batch(ratios, TAU).answer == "fail" for ratios in blocks(load, f"unchanged {number}", CAP, trials=TRIALS)]
        for number in (1, 2)
    ]
    at_most(0.001, [all(fails) for fails in zip(*both, strict=True)], errors=0)


@pytest.mark.parametrize("load", LOADS)
def test_an_increase_at_the_tolerance_is_called_a_failure_or_a_pass_no_oftener_than_declared(load):
    simulated = blocks(load, "boundary", CAP, trials=TRIALS, increase=TAU)
    answers = [batch(ratios, TAU).answer for ratios in simulated]
    at_most(ALPHA, [answer == "fail" for answer in answers])
    at_most(0.05, [answer == "pass" for answer in answers])


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
    simulated = blocks(load, "power", CAP, trials=TRIALS, increase=increase)
    seen = [batch(ratios, TAU) for ratios in simulated]
    at_least(share, [look.answer == "fail" for look in seen])
    mean_at_most(pairs + 0.5, [look.pairs for look in seen])  # the design's figure is rounded


def test_ten_percent_on_a_quiet_machine_are_seen_at_the_first_look():
    simulated = blocks("idle", "soon", LOOKS[0], trials=TRIALS, increase=0.10)
    at_least(1.0, [look(ratios, TAU).answer == "fail" for ratios in simulated])


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


def test_a_gate_that_always_runs_head_second_breaks_the_limit():
    simulated = blocks("slow second slot", "fixed", CAP, trials=500, increase=TAU, coin=False)
    hits = [batch(ratios, TAU).answer == "fail" for ratios in simulated]
    with pytest.raises(LimitBroken):
        at_most(ALPHA, hits)
    assert all(hits)
