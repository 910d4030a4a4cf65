"""Reasons to believe the numbers less, by cause; each says what to do about it."""

from collections.abc import Iterator, Sequence
from math import expm1
from statistics import fmean, median

from overdeck.bench.blocks import Block
from overdeck.bench.costs import by_order, cost, log_ratios
from overdeck.bench.endings import hand_of_the_client, hand_of_the_hook
from overdeck.bench.modes import two_modes
from overdeck.bench.noise import busy_before, stalled, stolen
from overdeck.bench.outcome import METRICS, Doubt, Metric, SelfCheck, Side
from overdeck.bench.recording import Recording
from overdeck.bench.two_samples import rank_sum_p
from overdeck.spawn.launch import Run

_ALPHA = 0.01
_MUCH_ORDER = 0.01
"""An order effect under 1 % moves nobody's decision."""
_MUCH_TREND = 1.10
"""Early runs this much dearer than late ones, or the reverse."""
_ROBUST_ALPHA = 0.001
"""Of the trend: it is asked of every arm."""


def doubts(
    recording: Recording, kept: Sequence[Block], sides: Sequence[Side], check: SelfCheck | None
) -> Iterator[Doubt]:
    """All that a reader should know, the machine first; ``kept`` are the blocks that count."""
    plan = recording.plan
    yield from _machine(recording)
    for which in range(1, len(plan.arms)):
        yield from _order(kept, which, plan.arms[which].name, plan.metric)
    for which, side in enumerate(sides):
        yield from _arm(side, [block.runs[which] for block in kept], plan.metric)
        if plan.arms[which].skipped:
            yield Doubt(
                "skipped",
                f"arm {side.name} has {plan.arms[which].skipped} matching handlers that are no command: not measured",
            )
        for hand in (hand_of_the_client, hand_of_the_hook):
            for says in hand(plan.arms[which], [block.runs[which] for block in kept]):
                yield Doubt("client", says)
    if plan.control_in_place:
        yield Doubt(
            "self-check",
            "A was repeated in place, for a copy of its files does other work (it looks for its neighbours?): what "
            "depends on where it stands is in no noise floor",
        )
    if check:
        for metric in METRICS:
            if metric != plan.metric and check.ratios[metric].p < _ROBUST_ALPHA:
                yield Doubt(
                    "self-check",
                    f"a copy of A differs from A in {metric}, which carries no verdict here: do not believe that row",
                )
    for name, starts in recording.starts.items():
        for warning in starts.warnings:
            yield Doubt("starts", f"counting the starts of arm {name}: {warning}")
    for why in dict.fromkeys(recording.uncounted.values()):
        names = ", ".join(name for name, reason in recording.uncounted.items() if reason == why)
        yield Doubt("starts", f"starts were not counted (arm {names}): {why}")
    if not recording.ended:
        torn = ", in the middle of a line" if recording.torn else ""
        yield Doubt(
            "cut-short",
            f"the measurement was cut short after {len(kept)} of {plan.pairs} blocks{torn}: measure again for the rest",
        )


def _machine(recording: Recording) -> Iterator[Doubt]:
    plan, seen = recording.plan, recording.observed
    first, last = seen[0].before, seen[-1].after
    parallel = max(len(arm.commands) for arm in plan.arms)
    ours = [
        f"{plan.stress} burners are ours: --stress" if plan.stress else "",
        f"some of it from {parallel} commands at once" if parallel >= plan.machine.processors else "",
    ]
    told = "".join(f"; {part}" for part in ours if part)
    for cause, says in (
        ("load", busy_before(plan.before)),
        ("psi", stalled(first, last, told)),
        ("steal", stolen(first, last)),
    ):
        if says:
            yield Doubt(cause, says)


def _order(blocks: Sequence[Block], which: int, name: str, metric: Metric) -> Iterator[Doubt]:
    """½(mean d where the arm ran after the first − mean d where it ran before), if that is no accident."""
    after, before = by_order(log_ratios(blocks, metric, which), blocks, which)
    if not after or not before:
        return
    effect = expm1((fmean(after) - fmean(before)) / 2)
    if abs(effect) >= _MUCH_ORDER and rank_sum_p(after, before) < _ALPHA:
        yield Doubt(
            "order",
            f"running after the other changes {metric} by {effect:+.1%} (A and {name}): the random order keeps it out "
            "of the ratio, but widens the interval; reset what one run leaves to the next with --prepare",
        )


def _arm(side: Side, runs: Sequence[Run], metric: Metric) -> Iterator[Doubt]:
    costs = [cost(run, metric) for run in runs]
    modes = two_modes(costs)
    if modes:
        yield Doubt(
            "two-modes",
            f"arm {side.name} has two modes: {modes[0]:.2f} ms and {modes[1]:.2f} ms of {metric}: it does two "
            "different things (a cache hit or miss?); bring it into one state with --prepare, or see the raw record",
        )
    early, late = costs[: len(costs) // 4], costs[len(costs) // 2 :]
    change = median(early) / median(late)
    if not 1 / _MUCH_TREND < change < _MUCH_TREND and rank_sum_p(early, late) < _ROBUST_ALPHA:
        if change > 1:
            says = f"was still warming up: its first runs took {change:.2f}x its later {metric}; raise --warmup"
        else:
            says = (
                f"gets dearer as it runs: its last runs took {1 / change:.2f}x its first {metric}; it may keep "
                "something that grows (a log?): clear it with --prepare"
            )
        yield Doubt("trend", f"arm {side.name} {says}")
    left = sum(run.killed for run in runs)
    if left:
        yield Doubt(
            "left-running",
            f"arm {side.name} left {left} processes running in {len(runs)} runs; they were killed, and their CPU until "
            "then counts: let the hook wait for them, or it costs more than it seems",
        )
    told = next((run.stderr_head.strip().splitlines()[0] for run in runs if run.stderr_head.strip()), "")
    if told and any(runs[0].exits):
        codes = "+".join(map(str, runs[0].exits))
        yield Doubt(
            "exits",
            f"every run of arm {side.name} that counts exits {codes}, saying {told[:120]!r}: is that its work?",
        )
    others = side.buckets[1:]
    if others:
        told = ", ".join(f"{bucket.runs} exited {'+'.join(map(str, bucket.exits))}" for bucket in others)
        yield Doubt(
            "exits",
            f"arm {side.name} did not always end alike: {told}; those blocks are in no number but the exit column; the "
            "raw record says which",
        )
