"""From what was seen to what it says: the same for a measurement that just ended and for its raw record."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import median
from typing import NamedTuple

from overdeck.bench.blocks import Block
from overdeck.bench.bootstrap import Estimate, bootstrap_ratio, mean, p90
from overdeck.bench.comparable import exit_codes
from overdeck.bench.costs import by_order, cost, log_ratios
from overdeck.bench.doubts import doubts
from overdeck.bench.eprocess import anytime_interval, anytime_ratio, evidence
from overdeck.bench.outcome import (
    ALPHA,
    METRICS,
    Bucket,
    Comparison,
    Contrast,
    Metric,
    SelfCheck,
    Side,
    Verdict,
)
from overdeck.bench.recording import PlannedArm, Recording
from overdeck.bench.statistics import Ratio, confidence_interval, hodges_lehmann, ratio, slot_effect
from overdeck.errors import InvalidMeasurement
from overdeck.spawn.launch import Run

FEWEST_PAIRS = 8
"""With fewer, even blocks that all point one way have p > .01: no verdict could be reached."""
CONTROL_ALPHA = 0.001
"""A copy of an arm that differs from it at this p: the machine, or the method, is broken."""
_DETECTABLE = 1.62
"""Half-widths that an increase must have to be found four times out of five (τ + 1.62 h with τ = 0)."""

Ending = tuple[int | None, ...]


def judge(recording: Recording, *, briefly: bool = False) -> Comparison:
    """What a recording says. Runs that did not end as usual are in no number but the buckets.

    ``briefly``: without what takes most of the time and a list of measurements does not show, the contrasts'
    ``differences_ms``, ``p90`` and ``mean``: they are empty.

    Raises the InvalidMeasurement that ended it, or one of its own: too few blocks, an arm that starts nothing,
    a copy of the first arm that differs from it at p < .001.
    """
    plan = recording.plan
    if recording.invalid:
        raise recording.invalid
    for arm, starts in recording.starts.items():
        if starts.process_starts.low < 1 or (starts.program_starts and starts.program_starts.low < 1):
            raise InvalidMeasurement(
                f"arm {arm} starts no program at all: there is nothing to compare",
                code="no-starts",
                hint=f"hookbench starts shows what it does; is arm {arm} what you meant?",
            )
    counted, kept, usual = sorted_out(recording.blocks())
    if len(kept) < FEWEST_PAIRS:
        raise _too_few(recording, counted, kept, usual)
    sides = [
        _side(arm, [block.runs[which] for block in counted], usual[which], recording)
        for which, arm in enumerate(plan.arms)
    ]
    compared = range(1, plan.compared)
    alpha = ALPHA / len(compared)
    check = _self_check(kept, len(plan.arms) - 1, until_decided=plan.until_decided) if plan.self_check else None
    if check and check.ratios[plan.metric].p < CONTROL_ALPHA:
        raise _broken(plan.metric, check)
    return Comparison(
        sides=tuple(sides[: plan.compared]),
        contrasts=tuple(
            contrast(
                kept,
                which,
                name=plan.arms[which].name,
                metric=plan.metric,
                alpha=alpha,
                until_decided=plan.until_decided,
                seed=plan.seed,
                briefly=briefly,
            )
            for which in compared
        ),
        metric=plan.metric,
        until_decided=plan.until_decided,
        seed=plan.seed,
        floor_kb=max(run.floor_kb for block in kept for run in block.runs),
        self_check=check,
        doubts=tuple(doubts(recording, kept, sides, check)),
        blocks=tuple(kept),
    )


class SortedOut(NamedTuple):
    """The blocks behind the warm-ups, those of them that count, and how each arm ended in these."""

    counted: list[Block]
    kept: list[Block]
    usual: tuple[Ending, ...]


def sorted_out(blocks: Sequence[Block]) -> SortedOut:
    """Which of ``blocks`` count: those in which every arm ended as usual."""
    counted = [block for block in blocks if block.number >= 0]
    usual = usual_endings([block for block in blocks if block.number < 0] or counted[:1])
    return SortedOut(counted, [block for block in counted if endings(block) == usual], usual)


def endings(block: Block) -> tuple[Ending, ...]:
    """How each arm of a block ended."""
    return tuple(exit_codes(run) for run in block.runs)


def usual_endings(warm_ups: Sequence[Block]) -> tuple[Ending, ...]:
    """How each arm is expected to end: as most of its warm-ups did. Known before the first run that counts."""
    arms = zip(*(endings(block) for block in warm_ups), strict=True)
    return tuple(Counter(ended).most_common(1)[0][0] for ended in arms)


def verdict(estimate: Ratio, alpha: float = ALPHA) -> Verdict:
    """What ``estimate`` says of an arm at ``alpha``."""
    if estimate.p >= alpha:
        return "no-difference"
    return "faster" if estimate.value < 1 else "slower"


def estimated(differences: Sequence[float], *, until_decided: bool, alpha: float = ALPHA) -> Ratio:
    """Log differences as a ratio; ``until_decided``: one that holds although the data chose when to stop."""
    return anytime_ratio(differences, alpha) if until_decided else ratio(differences)


def contrast(
    blocks: Sequence[Block],
    which: int,
    *,
    name: str,
    metric: Metric,
    alpha: float,
    until_decided: bool,
    seed: int,
    briefly: bool = False,
) -> Contrast:
    """Arm ``which`` against the first; for ``briefly`` see ``judge``."""
    logs = {each: log_ratios(blocks, each, which) for each in METRICS}
    ratios = {each: estimated(logs[each], until_decided=until_decided, alpha=alpha) for each in METRICS}
    said, decided = verdict(ratios[metric], alpha), True
    if until_decided:
        decision = evidence(logs[metric], alpha).decision
        said, decided = (decision.direction, True) if decision else ("no-difference", False)
    costs = {
        each: (
            [cost(block.runs[0], each) for block in blocks],
            [cost(block.runs[which], each) for block in blocks],
        )
        for each in METRICS
    }
    wanted = () if briefly else METRICS
    return Contrast(
        name,
        said,
        decided,
        ratios,
        {each: _difference(*costs[each], until_decided=until_decided) for each in wanted},
        {each: slot_effect(*by_order(logs[each], blocks, which)) for each in METRICS},
        {each: bootstrap_ratio(*costs[each], p90, seed=seed) for each in wanted},
        {each: bootstrap_ratio(*costs[each], mean, seed=seed) for each in wanted},
    )


def _difference(first: Sequence[float], second: Sequence[float], *, until_decided: bool) -> Estimate:
    """ms more per call, as the typical block sees it."""
    unit = max(median(first), median(second))  # the bets have a scale, that of shares
    differences = [(b - a) / unit for a, b in zip(first, second, strict=True)]
    interval = anytime_interval if until_decided else confidence_interval
    low, high = interval(differences)
    return Estimate(hodges_lehmann(differences) * unit, low * unit, high * unit)


def _self_check(blocks: Sequence[Block], which: int, *, until_decided: bool) -> SelfCheck:
    ratios = {each: estimated(log_ratios(blocks, each, which), until_decided=until_decided) for each in METRICS}
    half = {each: log(ratios[each].high / ratios[each].low) / 2 for each in METRICS}
    return SelfCheck(
        ratios,
        {each: exp(half[each]) - 1 for each in METRICS},
        {each: exp(_DETECTABLE * half[each]) - 1 for each in METRICS},
    )


def _side(arm: PlannedArm, runs: Sequence[Run], usual: Ending, recording: Recording) -> Side:
    by_ending: dict[Ending, list[Run]] = {usual: []}
    for run in runs:
        by_ending.setdefault(exit_codes(run), []).append(run)
    good = by_ending[usual]
    return Side(
        arm.name,
        arm.shown,
        len(arm.commands),
        wall_ms=_median(good, "wall"),
        cpu_ms=_median(good, "cpu"),
        rss_kb=max(run.rss_kb for run in good),
        exits=tuple(sorted({code for ended in by_ending for code in ended}, key=str)),
        buckets=tuple(
            Bucket(ended, len(ran), _median(ran, "wall"), _median(ran, "cpu")) for ended, ran in by_ending.items()
        ),
        starts=recording.starts.get(arm.name),
    )


def _median(runs: Sequence[Run], metric: Metric) -> float:
    return median(cost(run, metric) for run in runs)


def _too_few(
    recording: Recording, counted: Sequence[Block], kept: Sequence[Block], usual: tuple[Ending, ...]
) -> InvalidMeasurement:
    if len(counted) < FEWEST_PAIRS:
        return InvalidMeasurement(
            f"only {len(counted)} blocks were measured: a verdict needs {FEWEST_PAIRS}",
            code="too-few-blocks",
            hint="the record was cut short: measure again",
        )
    seen: Mapping[str, Counter[Ending]] = {
        arm.name: Counter(exit_codes(block.runs[which]) for block in counted)
        for which, arm in enumerate(recording.plan.arms)
    }
    told = "; ".join(
        f"{name} exits " + ", ".join(f"{shown_ending(ended)} in {runs}" for ended, runs in endings.items())
        for name, endings in seen.items()
        if len(endings) > 1
    )
    return InvalidMeasurement(
        f"only {len(kept)} of {len(counted)} blocks ended as the warm-ups did ({told}): nothing to compare",
        code="unsteady-exit",
        hint="make the arm end the same way every time, with --prepare perhaps; the raw record has every run",
    )


def shown_ending(ending: Ending) -> str:
    """Exit codes in words; None is a command that was never seen to exit.

    >>> shown_ending((0,)), shown_ending((0, 2)), shown_ending((None,))
    ('0', '0+2', 'none')
    """
    return "+".join("none" if code is None else str(code) for code in ending)


def _broken(metric: Metric, check: SelfCheck) -> InvalidMeasurement:
    value, low, high, p = check.ratios[metric]
    return InvalidMeasurement(
        f"the self-check failed: a copy of A takes {value:.3f}x A's {metric} (95 % CI {low:.3f}-{high:.3f}, "
        f"p={p:.1g}): no difference can be believed here",
        code="self-check",
        hint="does A keep state between runs, in /tmp or on a server? reset it with --prepare, and measure again",
    )
