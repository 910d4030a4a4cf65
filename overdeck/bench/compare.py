"""`ab`: arms against the first of them, in blocks of random order, one verdict each."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path

from overdeck.bench.arm import Arm
from overdeck.bench.blocks import AHEAD, WARM_UP, Block, Conditions, Observed, Pairing, draw_seed
from overdeck.bench.control import control_arm
from overdeck.bench.costs import log_ratios
from overdeck.bench.eprocess import EProcess, fewest
from overdeck.bench.judge import FEWEST_PAIRS, Ending, endings, judge, usual_endings
from overdeck.bench.limits import check_timeout
from overdeck.bench.noise import read_noise
from overdeck.bench.outcome import ALPHA, Comparison, Metric
from overdeck.bench.raw import RawRecord
from overdeck.bench.recording import Recording, make_plan
from overdeck.bench.starts.counter import counted_or_why, counter_or_why
from overdeck.bench.stress import stress as burners
from overdeck.errors import InvalidMeasurement, usage

MOST_PAIRS = 1000
MOST_ARMS = 9
FEWEST_CONTROLLED = 11
"""Blocks without which a copy of A could not be told from it at p < .001, whatever it did."""


def compare(
    a: Arm,
    b: Arm,
    *more: Arm,
    payload: bytes,
    pairs: int = 40,
    metric: Metric = "cpu",
    seed: int | None = None,
    timeout_s: float = 60.0,
    allow_diff: bool = False,
    environ: Mapping[str, str] | None = None,
    prepare: Sequence[Sequence[str]] = (),
    cleanup: Sequence[Sequence[str]] = (),
    warm_up: int = WARM_UP,
    until_decided: bool = False,
    self_check: bool = False,
    stress: int = 0,
    count_starts: bool = False,
    raw: Path | None = None,
    on_block: Callable[[Sequence[Block]], None] | None = None,
) -> Comparison:
    """Run every arm once in each of ``pairs`` blocks, in random order, and judge each but ``a`` against ``a``.

    ``payload`` is what every command finds on stdin; ``environ`` is added to all arms' environment;
    ``timeout_s`` bounds one run; ``prepare`` and ``cleanup`` are argvs run before and after each run, off the
    clock; ``warm_up`` blocks are thrown away first. The verdict is that of ``metric`` at p < .01, two-sided, in
    all comparisons together (.01 is divided among them). ``until_decided`` stops as soon as all are decided, and
    ``pairs`` is the most; ``self_check`` adds a copy of ``a`` to every block; ``stress`` keeps so many processes
    burning meanwhile; ``count_starts`` counts each arm's process starts in a separate pass afterwards, and where
    they cannot be counted a doubt says why. ``raw`` gets one JSON line a run as it happens; ``on_block`` is called
    with the blocks that count so far, for progress.

    Raises InvalidMeasurement where the arms cannot be compared (BENCH: a failed start, exit 126 or 127, a
    timeout, a failed ``prepare``, or different exit codes or stdout without ``allow_diff``; or a copy of ``a``
    that differs from it), OverdeckError on impossible arguments.

    >>> from overdeck.bench import command_arm, compare
    >>> compare(command_arm("A", "cat"), command_arm("B", "cat"), payload=b"{}", pairs=8).b.exits
    (0,)
    """
    arms = (a, b, *more)
    alpha = ALPHA / (len(arms) - 1)
    check(
        arms,
        pairs,
        until_decided=until_decided,
        self_check=self_check,
        warm_up=warm_up,
        stress=stress,
        timeout_s=timeout_s,
    )
    before = read_noise()
    conditions = Conditions(
        payload=payload,
        seed=draw_seed() if seed is None else seed,
        timeout_s=timeout_s,
        allow_diff=allow_diff,
        environ=environ or {},
        prepare=tuple(map(tuple, prepare)),
        cleanup=tuple(map(tuple, cleanup)),
        warm_up=warm_up,
    )
    with ExitStack() as stack:
        record = stack.enter_context(RawRecord(raw)) if raw else None
        measured: tuple[Arm, ...] = arms
        in_place = False
        if self_check:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hookbench-")))
            copy, in_place = control_arm(a, folder, conditions)
            measured = (*arms, copy)
        recording = Recording(
            make_plan(
                measured,
                conditions,
                metric=metric,
                pairs=pairs,
                until_decided=until_decided,
                self_check=self_check,
                control_in_place=in_place,
                stress=stress,
                before=before,
            )
        )
        if record:
            record.plan(recording.plan)
        try:
            with burners(stress):
                _measure(measured, conditions, recording, record, alpha, on_block)
            if count_starts:
                _count_starts(arms, conditions, recording, record)
        except InvalidMeasurement as invalid:
            if record:
                record.invalid(invalid)
            raise
        recording.ended = True
        if record:
            record.end()
    return judge(recording)


def fewest_pairs(alpha: float, *, until_decided: bool = False, self_check: bool = False) -> int:
    """The blocks without which no verdict at ``alpha`` could be reached, whatever they say."""
    if until_decided:
        return fewest(alpha)
    least = FEWEST_CONTROLLED if self_check else FEWEST_PAIRS
    while 2.0 ** (1 - least) >= alpha:
        least += 1
    return least


def check(
    arms: Sequence[Arm],
    pairs: int,
    *,
    until_decided: bool,
    self_check: bool,
    warm_up: int,
    stress: int,
    timeout_s: float,
) -> None:
    """Raise OverdeckError (usage) where ``compare`` could not work with these arguments."""
    alpha = ALPHA / (len(arms) - 1)
    if len(arms) > MOST_ARMS:
        raise usage(f"{len(arms)} arms are too many at once: {MOST_ARMS} at most", hint="compare fewer at a time")
    names = [arm.name for arm in arms]
    if len(set(names)) < len(names):
        raise usage(f"two arms have the same name ({', '.join(names)})", hint="name them apart: A, B, C")
    least = fewest_pairs(alpha, until_decided=until_decided, self_check=self_check)
    if not least <= pairs <= MOST_PAIRS:
        raise usage(f"{pairs} pairs: a verdict needs {least} to {MOST_PAIRS}", hint="--pairs 40 is usual")
    if not 0 <= warm_up <= MOST_PAIRS:
        raise usage(f"{warm_up} warm-up blocks: 0 to {MOST_PAIRS}", hint=f"--warmup {WARM_UP} is usual")
    if not 0 <= stress <= 1000:
        raise usage(f"{stress} burners: 0 to 1000", hint="--stress 2 keeps two CPUs busy")
    check_timeout(timeout_s)


def _count_starts(
    arms: Sequence[Arm], conditions: Conditions, recording: Recording, record: RawRecord | None
) -> None:
    """The starts of each arm, or why there is no count of it: the comparison before it stands."""
    with counter_or_why() as counter:
        for arm in arms:
            counted = counted_or_why(
                counter,
                arm,
                payload=conditions.payload,
                environ=conditions.environ,
                timeout_s=conditions.timeout_s,
                prepare=conditions.prepare,
                cleanup=conditions.cleanup,
            )
            if isinstance(counted, str):
                recording.uncounted[arm.name] = counted
                if record:
                    record.uncounted(arm.name, counted)
                continue
            recording.starts[arm.name] = replace(counted, tree=None)
            if record:
                record.starts(arm.name, recording.starts[arm.name])


def _measure(
    arms: Sequence[Arm],
    conditions: Conditions,
    recording: Recording,
    record: RawRecord | None,
    alpha: float,
    on_block: Callable[[Sequence[Block]], None] | None,
) -> None:
    """Blocks into ``recording``: all that were planned, or until every arm is decided."""
    plan = recording.plan

    def on_run(seen: Observed) -> None:
        recording.observed.append(seen)
        if record:
            record.run(seen)

    bets = [EProcess(alpha) for _ in range(1, plan.compared)]
    warm_ups: list[Block] = []
    kept: list[Block] = []
    usual: tuple[Ending, ...] = ()
    with Pairing(arms, replace(conditions, on_run=on_run)) as pairing:
        planned = plan.warm_up + plan.pairs
        for block in islice(pairing.blocks(AHEAD if plan.until_decided else planned), planned):
            if block.number < 0:
                warm_ups.append(block)
                continue
            usual = usual or usual_endings(warm_ups or [block])
            if endings(block) != usual:
                continue
            kept.append(block)
            if on_block:
                on_block(kept)
            if plan.until_decided:
                for arm, bet in enumerate(bets, 1):
                    bet.add(log_ratios([block], plan.metric, arm)[0])
                if all(bet.decision for bet in bets):
                    break
