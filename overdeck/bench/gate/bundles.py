"""Several pairs in one block, where a call is so short that a single pair says more of the machine than of the call."""

from collections.abc import Iterator, Sequence
from math import exp, log
from statistics import fmean, median

from overdeck.bench.blocks import Block
from overdeck.spawn.launch import Run

TARGET_MS = 48.0
"""CPU time of an arm in one block: some slices of a scheduler.

A pair of calls of 20 ms was not clear in one gate of six."""
MOST = 16


def pairs_a_block(warm_up: Sequence[Block]) -> int:
    """How many pairs make a block, by the CPU time that the warm-up took; 1 for a call of TARGET_MS or more."""
    taken = median([run.cpu_us / 1e3 for block in warm_up for run in block.runs] or [TARGET_MS])
    return max(1, min(MOST, int(TARGET_MS / max(taken, TARGET_MS / MOST))))


def bundled(blocks: Iterator[Block], pairs: int) -> Iterator[Block]:
    """``pairs`` blocks become one, whose log ratio is the mean of theirs.

    Each of them draws its own order, so the mean is as likely to be above as below "no difference" as each is. A mean
    of logs, so that one burst of load weighs as one pair of ``pairs``, however long it was.
    """
    if pairs == 1:
        yield from blocks
        return
    held: list[Block] = []
    for block in blocks:
        held.append(block)
        if len(held) == pairs:
            runs = tuple(_mean([one.runs[arm] for one in held]) for arm in range(len(block.runs)))
            yield Block(held[0].number // pairs, held[0].order, runs, pairs)
            held.clear()


def _mean(runs: Sequence[Run]) -> Run:
    """The first of the runs with the geometric means of their wall and CPU time, the latter all as user time."""
    wall, cpu = _geometric([run.wall_ns for run in runs]), _geometric([run.cpu_us for run in runs])
    return runs[0]._replace(wall_ns=wall, user_us=cpu, system_us=0)


def _geometric(times: Sequence[int]) -> int:
    """Nothing where one of them is nothing: a clock that stands still must be seen."""
    return round(exp(fmean(map(log, times)))) if min(times) > 0 else 0
