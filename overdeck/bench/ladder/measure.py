"""Measuring the ladder: every rung on every size, against a bare ``true`` of the same round."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from statistics import median
from typing import NamedTuple

from overdeck.bench.arm import Arm
from overdeck.bench.blocks import run_once
from overdeck.bench.ladder.rungs import EVENT, TOOL, Rung
from overdeck.bench.limits import check_timeout
from overdeck.bench.noise import busy_before, read_noise, stolen
from overdeck.bench.payloads import generate
from overdeck.bench.rounds import Cell, run_rounds
from overdeck.bench.starts.counter import Count, Starts, counted_or_why, counter_or_why
from overdeck.bench.statistics import Ratio, ratio
from overdeck.errors import InvalidMeasurement, usage
from overdeck.spawn.launch import Run

FEWEST_ROUNDS, MOST_ROUNDS = 6, 1000
"""With fewer than six there is no 95 % interval."""
_COUNTED = 2
"""Runs in which starts are counted: enough to see that they differ."""


class Step(NamedTuple):
    """One rung on one size: how many times the floor's CPU and wall time, and its own medians in ms."""

    size: int
    cpu: Ratio
    wall: Ratio
    cpu_ms: float
    wall_ms: float


@dataclass(frozen=True)
class Climbed:
    """A rung that was measured, with a step for each size; ``starts`` is of the smallest, None where not counted."""

    rung: Rung
    steps: tuple[Step, ...]
    starts: Count | None
    starts_exact: bool


@dataclass(frozen=True)
class Ladder:
    """The outcome, the floor first. ``missing``: name of a rung and why it was not measured."""

    sizes: tuple[int, ...]
    rounds: int
    seed: int
    climbed: tuple[Climbed, ...]
    missing: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


def measure_ladder(
    rungs: Sequence[Rung],
    sizes: Sequence[int],
    *,
    rounds: int,
    seed: int,
    timeout_s: float = 60.0,
    on_round: Callable[[int], None] | None = None,
) -> Ladder:
    """Run every rung on payloads of ``sizes`` bytes, ``rounds`` times in random order; the first rung is the floor.

    A rung that does not exist here, or does not exit 0 in silence, is left out and named in ``missing``; where its
    starts cannot be counted, a warning says why. Raises
    InvalidMeasurement where the floor is one of these or a run does not end in ``timeout_s``.
    """
    if not FEWEST_ROUNDS <= rounds <= MOST_ROUNDS:
        raise usage(
            f"{rounds} rounds: an interval needs {FEWEST_ROUNDS} to {MOST_ROUNDS}", hint="--rounds 7 is usual"
        )
    check_timeout(timeout_s)
    sizes = sorted(set(sizes))
    if not sizes:
        raise usage("there is no size to measure", hint="--sizes 200,32k,1MB")
    payloads = [generate(EVENT, TOOL, size) for size in sizes]
    start = read_noise()
    here, missing = _tried(rungs, payloads[0], timeout_s)
    if not here or here[0] is not rungs[0]:
        raise InvalidMeasurement(
            f"the floor cannot be measured: {rungs[0].name}: {dict(missing)[rungs[0].name]}",
            code="no-floor",
            hint="put a `true` on PATH: PATH=/usr/bin:/bin",
        )
    with counter_or_why() as counter:
        starts = [
            counted_or_why(counter, _arm(rung), payload=payloads[0], runs=_COUNTED, timeout_s=timeout_s)
            for rung in here
        ]
    uncounted = [f"starts were not counted: {why}" for why in starts if isinstance(why, str)]
    cells = [Cell(_arm(rung), payload) for rung in here for payload in payloads]
    runs = run_rounds(cells, rounds, seed=seed, timeout_s=timeout_s, on_round=on_round)
    by_rung = [runs[at : at + len(sizes)] for at in range(0, len(runs), len(sizes))]
    noise = (busy_before(start), stolen(start, read_noise()))
    return Ladder(
        sizes=tuple(sizes),
        rounds=rounds,
        seed=seed,
        climbed=tuple(
            Climbed(
                rung,
                tuple(_step(size, *both) for size, *both in zip(sizes, by_rung[0], of_rung, strict=True)),
                counted.process_starts if isinstance(counted, Starts) else None,
                not isinstance(counted, Starts) or counted.exact,
            )
            for rung, of_rung, counted in zip(here, by_rung, starts, strict=True)
        ),
        missing=tuple(missing),
        warnings=tuple(dict.fromkeys([*(sentence for sentence in noise if sentence), *uncounted])),
    )


def _tried(rungs: Sequence[Rung], payload: bytes, timeout_s: float) -> tuple[list[Rung], list[tuple[str, str]]]:
    """The rungs that run here and do nothing, as they should; and why the others do not."""
    here = []
    missing = []
    for rung in rungs:
        if rung.arm is None:
            missing.append((rung.name, rung.missing))
            continue
        try:
            run = run_once(rung.arm, payload=payload, timeout_s=timeout_s)
        except InvalidMeasurement as invalid:
            missing.append((rung.name, invalid.message))
            continue
        if any(run.exits) or run.stdout_bytes:
            said = " ".join((run.stderr_head or run.stdout_head).split())[:160]
            missing.append(
                (rung.name, f"it does not work here: exit {run.exits[0]}" + (f", {said}" if said else ""))
            )
        else:
            here.append(rung)
    return here, missing


def _arm(rung: Rung) -> Arm:
    assert rung.arm is not None
    return rung.arm


def _step(size: int, floor: Sequence[Run], own: Sequence[Run]) -> Step:
    return Step(
        size,
        cpu=ratio([log(run.cpu_us / base.cpu_us) for base, run in zip(floor, own, strict=True)]),
        wall=ratio([log(run.wall_ns / base.wall_ns) for base, run in zip(floor, own, strict=True)]),
        cpu_ms=median(run.cpu_us for run in own) / 1e3,
        wall_ms=median(run.wall_ns for run in own) / 1e6,
    )
