"""`ab`: two arms, a fixed number of blocks, one verdict."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from math import log
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

from overdeck.bench.arm import Arm
from overdeck.bench.blocks import WARM_UP, Block, Conditions, Pairing, draw_seed
from overdeck.bench.comparable import exit_codes
from overdeck.bench.noise import busy_before, read_noise, stolen
from overdeck.bench.raw import RawRecord
from overdeck.bench.statistics import Ratio, ratio, slot_effect
from overdeck.errors import usage
from overdeck.spawn.launch import Run

Metric = Literal["cpu", "wall"]
Verdict = Literal["faster", "slower", "no-difference"]
METRICS: tuple[Metric, ...] = ("cpu", "wall")
ALPHA = 0.01
FEWEST_PAIRS = 8
"""With fewer, even blocks that all point one way have p > .01: no verdict could be reached."""
MOST_PAIRS = 1000
_COOLING = 1.25
"""Early runs this much dearer than late ones: the warm-up was too short, and we say so."""


class Side(NamedTuple):
    """One arm's own numbers: medians over the blocks that count."""

    arm: Arm
    wall_ms: float
    cpu_ms: float
    rss_kb: int
    exits: tuple[int | None, ...]


@dataclass(frozen=True)
class Comparison:
    """The outcome: B against A. ``ratios`` and ``slot_effects`` are by metric; 1.0 means no difference."""

    a: Side
    b: Side
    pairs: int
    metric: Metric
    verdict: Verdict
    ratios: Mapping[Metric, Ratio]
    slot_effects: Mapping[Metric, float]
    seed: int
    floor_kb: int
    warnings: tuple[str, ...]


def compare(
    a: Arm,
    b: Arm,
    *,
    payload: bytes,
    pairs: int = 40,
    metric: Metric = "cpu",
    seed: int | None = None,
    timeout_s: float = 60.0,
    allow_diff: bool = False,
    environ: Mapping[str, str] | None = None,
    raw: Path | None = None,
    on_block: Callable[[Sequence[Block]], None] | None = None,
) -> Comparison:
    """Run ``a`` and ``b`` in ``pairs`` blocks of random order and say whether b is faster or slower.

    ``payload`` is what every command finds on stdin; ``environ`` is added to both arms' environment;
    ``timeout_s`` bounds one run; ``raw`` gets one JSON line a run as it happens; ``on_block`` is called with
    the counting blocks so far, for progress. The verdict is that of ``metric`` at p < .01, two-sided.

    Raises InvalidMeasurement where the arms cannot be compared (BENCH: a failed start, exit 126 or 127, a
    timeout, or different exit codes or stdout without ``allow_diff``), OverdeckError on impossible arguments.

    >>> from overdeck.bench import command_arm, compare
    >>> compare(command_arm("A", "cat"), command_arm("B", "cat"), payload=b"{}", pairs=8).b.exits
    (0,)
    """
    if not FEWEST_PAIRS <= pairs <= MOST_PAIRS:
        raise usage(f"{pairs} pairs: a verdict needs {FEWEST_PAIRS} to {MOST_PAIRS}", hint="--pairs 40 is usual")
    if timeout_s <= 0:
        raise usage(f"a timeout of {timeout_s:g} s leaves no time to run", hint="--timeout 60 is usual")
    start = read_noise()
    blocks: list[Block] = []
    with RawRecord(raw) if raw else nullcontext() as record:
        conditions = Conditions(
            payload=payload,
            seed=draw_seed() if seed is None else seed,
            timeout_s=timeout_s,
            allow_diff=allow_diff,
            environ=environ or {},
            on_run=record.run if record else None,
        )
        if record:
            record.plan((a, b), conditions)
        with Pairing((a, b), conditions) as pairing:
            for block in islice(pairing.blocks(), WARM_UP + pairs):
                if block.number >= 0:
                    blocks.append(block)
                    if on_block:
                        on_block(blocks)
    sides = _side(a, [block.runs[0] for block in blocks]), _side(b, [block.runs[1] for block in blocks])
    ratios = {which: ratio(log_ratios(blocks, which)) for which in METRICS}
    noise = (busy_before(start), stolen(start, read_noise()))
    return Comparison(
        *sides,
        pairs=pairs,
        metric=metric,
        verdict=verdict(ratios[metric]),
        ratios=ratios,
        slot_effects={which: _slot_effect(blocks, which) for which in METRICS},
        seed=conditions.seed,
        floor_kb=max(run.floor_kb for block in blocks for run in block.runs),
        warnings=(
            *(sentence for sentence in noise if sentence),
            *_doubts(a, [block.runs[0] for block in blocks]),
            *_doubts(b, [block.runs[1] for block in blocks]),
        ),
    )


def verdict(estimate: Ratio) -> Verdict:
    """What ``estimate`` says of B at ALPHA."""
    if estimate.p >= ALPHA:
        return "no-difference"
    return "faster" if estimate.value < 1 else "slower"


def log_ratios(blocks: Sequence[Block], metric: Metric, arm: int = 1) -> list[float]:
    """log(arm / first arm) of each block; ``arm`` 1 is the second of the arms."""
    if metric == "cpu":
        return [log(block.runs[arm].cpu_us / block.runs[0].cpu_us) for block in blocks]
    return [log(block.runs[arm].wall_ns / block.runs[0].wall_ns) for block in blocks]


def _slot_effect(blocks: Sequence[Block], metric: Metric) -> float:
    second = log_ratios([block for block in blocks if block.second()], metric)
    first = log_ratios([block for block in blocks if not block.second()], metric)
    return slot_effect(second, first)


def _side(arm: Arm, runs: Sequence[Run]) -> Side:
    return Side(
        arm,
        wall_ms=median(run.wall_ns for run in runs) / 1e6,
        cpu_ms=median(run.cpu_us for run in runs) / 1e3,
        rss_kb=max(run.rss_kb for run in runs),
        exits=tuple(sorted({code for run in runs for code in exit_codes(run)}, key=str)),
    )


def _doubts(arm: Arm, runs: Sequence[Run]) -> list[str]:
    """What a reader should know about one arm's runs before believing the medians."""
    doubts = []
    early = median(run.cpu_us for run in runs[:WARM_UP])
    late = median(run.cpu_us for run in runs[len(runs) // 2 :])
    if early > _COOLING * late:
        doubts.append(
            f"arm {arm.name} was still warming up: its first runs cost {early / late:.2f}x its later ones"
        )
    left = sum(run.killed for run in runs)
    if left:
        doubts.append(f"arm {arm.name} left {left} processes running in {len(runs)} runs; they were killed")
    if arm.skipped:
        doubts.append(f"arm {arm.name} has {arm.skipped} matching handlers that are no command: not measured")
    return doubts
