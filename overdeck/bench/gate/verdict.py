"""What the gate decides from blocks and counts: pure of processes, so that a simulation can ask the same code.

A FAIL must be found twice, in batches of independent seeds: that is the correction for many scenarios and metrics.
At an increase of exactly the tolerance one batch errs with 1 in 100 and two with 1 in 10,000, so a gate of six
scenarios and two timed metrics fails the worst innocent tree at most 12 times in 10,000, an unchanged one far less.
The control's rejections are treated alike: six scenarios at .001 each would make 1 healthy gate in 83 INVALID.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Literal, NamedTuple

from overdeck.bench.blocks import Block
from overdeck.bench.costs import log_ratios
from overdeck.bench.gate.scenario import Tolerance
from overdeck.bench.outcome import METRICS, Metric
from overdeck.bench.sequential import LOOKS, Answer, Look, look
from overdeck.bench.starts.counter import Starts
from overdeck.bench.statistics import Ratio, ratio
from overdeck.errors import InvalidMeasurement

Verdict = Literal["pass", "fail", "inconclusive", "invalid"]
_WORST_FIRST: tuple[Verdict, ...] = ("invalid", "fail", "inconclusive", "pass")

CONTROL_PAIRS = LOOKS[0]
"""Blocks of base against its copy. The test rejects from a difference of about 0.8 standard deviations of a block:
below 3 % of CPU time on a busy machine, the tolerance; 80 instead would double what a gate costs."""
CONTROL_ALPHA = 0.001

Source = Callable[[int], AbstractContextManager[Iterator[Block]]]
"""A seed → counting blocks without end, for the length of a ``with``."""


class MetricRow(NamedTuple):
    """One timed metric of one scenario: head against base in the batch that decided."""

    verdict: Verdict
    tolerance: float
    ratio: Ratio
    pairs: int
    z: float
    batches: int
    """2 where the first said fail."""
    each: int = 1
    """How many pairs make one of ``pairs``: see bundles.py."""


class StartsRow(NamedTuple):
    """Program starts (successful execs) of one call; ``allowed`` is how many more than base are tolerated.

    A side is a string where it was not counted: why.
    """

    verdict: Verdict
    allowed: int
    base: Starts | str
    head: Starts | str
    batches: int
    """2 where the first count said fail."""

    @property
    def exact(self) -> bool:
        """Whether both counts are exact, and of calls that ended as they do when nobody watches."""
        return _decides(self.base) and _decides(self.head)


class ControlRow(NamedTuple):
    """Base against its copy: what this machine makes out of nothing. ``unclear``: rejected in the first batch only."""

    verdict: Literal["agrees", "unclear"]
    ratios: Mapping[Metric, Ratio]
    pairs: int
    seeds: tuple[int, ...]


class Timed(NamedTuple):
    """The judgement on the timed metrics, and the seeds of its one or two batches."""

    rows: Mapping[Metric, MetricRow]
    seeds: tuple[int, ...]


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict that decides over several; nothing at all is ``invalid``."""
    return next((verdict for verdict in _WORST_FIRST if verdict in verdicts), "invalid")


def judge_times(source: Source, tolerance: Tolerance, seeds: random.Random, cap: int = LOOKS[-1]) -> Timed:
    """One batch, and a second with a new seed for what the first calls a failure: only a reproduced one is.

    ``cap`` bounds the blocks of a batch. Raises InvalidMeasurement where the source does, or the clock stands still.
    """
    used = [seeds.getrandbits(32)]
    first = _batch(source, used[0], METRICS, tolerance, cap, over=lambda said: "fail" in said or None not in said)
    rows = {metric: _row(metric, tolerance, *first, batches=1) for metric in METRICS}
    failed = [metric for metric in METRICS if rows[metric].verdict == "fail"]
    if failed:
        used.append(seeds.getrandbits(32))
        second = _batch(source, used[1], failed, tolerance, cap, over=lambda said: None not in said)
        for metric in failed:
            row = _row(metric, tolerance, *second, batches=2)
            # A failure in one batch alone is none; neither is it a pass.
            rows[metric] = row if row.verdict == "fail" else row._replace(verdict="inconclusive")
    return Timed(rows, tuple(used))


def _batch(
    source: Source,
    seed: int,
    metrics: Sequence[Metric],
    tolerance: Tolerance,
    cap: int,
    *,
    over: Callable[[Sequence[Answer]], bool],
) -> tuple[dict[Metric, Look], list[Block]]:
    """Blocks until the answers so far are ``over``, or no further look is allowed by ``cap``."""
    seen: dict[Metric, Look] = dict.fromkeys(metrics, Look(None, 0, 0.0))
    blocks: list[Block] = []
    last = max(n for n in LOOKS if n <= cap)
    with source(seed) as running:
        for block in running:
            blocks.append(block)
            if len(blocks) not in LOOKS:
                continue
            check_clock(blocks)
            for metric in metrics:
                if seen[metric].answer is None:
                    seen[metric] = look(log_ratios(blocks, metric), tolerance.share(metric))
            if len(blocks) == last or over([seen[metric].answer for metric in metrics]):
                return seen, blocks
    raise _ended(blocks)


def _ended(blocks: Sequence[Block]) -> InvalidMeasurement:
    return InvalidMeasurement(
        f"the measurement ended after {len(blocks)} blocks, before a verdict was possible",
        code="nothing-measured",
        hint="run the gate again",
    )


def _row(
    metric: Metric, tolerance: Tolerance, seen: Mapping[Metric, Look], blocks: Sequence[Block], *, batches: int
) -> MetricRow:
    answer, pairs, z = seen[metric]
    return MetricRow(
        answer or "inconclusive",
        tolerance.share(metric),
        ratio(log_ratios(blocks, metric)),
        pairs,
        z,
        batches,
        blocks[0].pairs,
    )


def check_clock(blocks: Sequence[Block]) -> None:
    """Raise InvalidMeasurement where no time passed in a run, or in half of the blocks both arms took the very same.

    A clock in ticks does that: two calls of one tick each differ by nothing, which is under every tolerance.
    """
    times = {
        "wall": [[run.wall_ns for run in block.runs] for block in blocks],
        "CPU": [[run.cpu_us for run in block.runs] for block in blocks],
    }
    for name, taken in times.items():
        equal = sum(first == other for first, other in taken)
        if equal >= len(blocks) / 2 or min(map(min, taken)) <= 0:
            raise InvalidMeasurement(
                f"the measurement collapsed: {equal} of {len(blocks)} blocks took the very same {name} time twice",
                code="collapsed",
                hint="see how fine this machine's clocks are: time true; a call of many milliseconds shows more",
            )


def judge_control(source: Source, seeds: random.Random) -> ControlRow:
    """Base against its copy in CONTROL_PAIRS blocks, and once more where that rejects at CONTROL_ALPHA.

    Raises InvalidMeasurement where both reject for one metric: what makes equal things unequal is the machine or
    the harness, and it would judge head as well.
    """
    used: list[int] = []
    rejected: set[Metric] = set(METRICS)
    ratios: dict[Metric, Ratio] = {}
    while rejected and len(used) < 2:
        used.append(seeds.getrandbits(32))
        with source(used[-1]) as running:
            blocks = list(islice(running, CONTROL_PAIRS))
        if len(blocks) < CONTROL_PAIRS:
            raise _ended(blocks)
        check_clock(blocks)
        ratios = {metric: ratio(log_ratios(blocks, metric)) for metric in METRICS}
        rejected &= {metric for metric in METRICS if ratios[metric].p < CONTROL_ALPHA}
    if rejected:
        metric = min(rejected)
        value, low, high, p = ratios[metric]
        raise InvalidMeasurement(
            f"the control rejects: a copy of base takes {value:.3f}x base's {metric} (95 % CI {low:.3f}-{high:.3f}, "
            f"p={p:.1e}), and did in a first batch too",
            code="control",
            hint="run the gate again; where it stays, see what in the scenario depends on where it is installed",
        )
    return ControlRow("unclear" if len(used) > 1 else "agrees", ratios, CONTROL_PAIRS, tuple(used))


def judge_starts(
    base: Starts | str,
    head: Starts | str,
    allowed: int,
    again: Callable[[], tuple[Starts | str, Starts | str]],
) -> StartsRow:
    """Exact counts: one program start more than ``allowed`` fails, once ``again`` has counted it a second time.

    Counts that differ between runs are compared by their ranges: fails where head's fewest are over base's most,
    passes where head's most are not. A count that is not exact, or of a call that being watched made end otherwise,
    decides nothing, and neither does the reason (a string) why there is no count. Raises InvalidMeasurement where a
    side started nothing.
    """
    batches = 1
    answer = _starts_answer(base, head, allowed)
    if answer == "fail":
        batches = 2
        base, head = again()
        if _starts_answer(base, head, allowed) != "fail":
            answer = "inconclusive"
    return StartsRow(answer, allowed, base, head, batches)


def _starts_answer(base: Starts | str, head: Starts | str, allowed: int) -> Verdict:
    if isinstance(base, str) or isinstance(head, str):
        return "inconclusive"
    for name, counted in (("base", base), ("head", head)):
        for what, count in (("process", counted.process_starts), ("program", counted.program_starts)):
            if count is not None and count.low < 1:
                raise InvalidMeasurement(
                    f"{name} started no {what} in a run: there is no hook to measure",
                    code="no-starts",
                    hint="hookbench starts shows what a command starts; see what the scenario's argv does",
                )
    before, after = base.program_starts, head.program_starts
    if not (_decides(base) and _decides(head)) or before is None or after is None:
        return "inconclusive"
    if after.low > before.high + allowed:
        return "fail"
    return "pass" if after.high <= before.high + allowed else "inconclusive"


def _decides(starts: Starts | str) -> bool:
    return isinstance(starts, Starts) and starts.exact and starts.undisturbed
