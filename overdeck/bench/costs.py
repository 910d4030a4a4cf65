"""What a run cost by a metric, and what one arm of a block cost against the first."""

from collections.abc import Sequence
from math import log

from overdeck.bench.blocks import Block
from overdeck.bench.outcome import Metric
from overdeck.spawn.launch import Run


def cost(run: Run, metric: Metric) -> float:
    """What a run took, in ms."""
    return run.cpu_us / 1e3 if metric == "cpu" else run.wall_ns / 1e6


def log_ratios(blocks: Sequence[Block], metric: Metric, arm: int = 1) -> list[float]:
    """log(arm / first arm) of each block; ``arm`` 1 is the second of the arms."""
    return [log(cost(block.runs[arm], metric) / cost(block.runs[0], metric)) for block in blocks]


def by_order(differences: Sequence[float], blocks: Sequence[Block], arm: int) -> tuple[list[float], list[float]]:
    """``differences`` of the blocks in which ``arm`` ran after the first arm, and of those in which before."""
    after: list[float] = []
    before: list[float] = []
    for difference, block in zip(differences, blocks, strict=True):
        (after if block.second(arm) else before).append(difference)
    return after, before
