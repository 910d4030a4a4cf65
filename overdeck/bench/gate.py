"""`gate`: has the head become dearer than the pinned base? Nothing that was not measured passes."""

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from overdeck.bench.arm import Arm
from overdeck.bench.blocks import Block, Conditions, Pairing, run_once
from overdeck.bench.builds import Build, commit_of, repository, two_builds
from overdeck.bench.compare import METRICS, Metric, log_ratios
from overdeck.bench.gate_config import GateConfig, Scenario
from overdeck.bench.sequential import LOOKS, Answer, Look, look
from overdeck.bench.statistics import Ratio, ratio
from overdeck.errors import InvalidMeasurement, usage

Verdict = Literal["pass", "fail", "inconclusive", "invalid"]
_WORST_FIRST: tuple[Verdict, ...] = ("invalid", "fail", "inconclusive", "pass")

Builder = Callable[[Path, str, Sequence[str], Callable[[str], None]], AbstractContextManager[tuple[Build, Build]]]
"""(repository, base commit, build argv, narrator) → base and head, built, for the length of a ``with``."""


class MetricRow(NamedTuple):
    """One metric of one scenario: head against base in the batch that decided."""

    verdict: Verdict
    tolerance: float
    ratio: Ratio
    pairs: int
    z: float


@dataclass(frozen=True)
class ScenarioRow:
    """One scenario's outcome; ``reason`` says in words why it is not a plain pass."""

    name: str
    verdict: Verdict
    reason: str = ""
    metrics: Mapping[Metric, MetricRow] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    """One a batch: a second batch was needed where there are two."""


@dataclass(frozen=True)
class GateOutcome:
    """The verdict over all scenarios: the worst of them."""

    verdict: Verdict
    base: str
    seed: int
    scenarios: tuple[ScenarioRow, ...]


def run_gate(
    config: GateConfig,
    *,
    seed: int,
    base: str | None = None,
    pairs_cap: int = LOOKS[-1],
    note: Callable[[str], None] = lambda _: None,
    builder: Builder = two_builds,
) -> GateOutcome:
    """Build the base and the work tree around ``config.file``, measure every scenario on both, judge each.

    ``base`` overrides the pinned commit; ``pairs_cap`` (16 … 80) bounds the blocks of a batch; ``note`` is
    told what goes on. Raises InvalidMeasurement where there is no base or a side does not build; a scenario
    that cannot be compared is an ``invalid`` row.
    """
    if pairs_cap < LOOKS[0]:
        raise usage(
            f"a cap of {pairs_cap} pairs allows no look at all", hint=f"--pairs-cap {LOOKS[0]} is the least"
        )
    root = repository(config.file.absolute().parent)
    revision = base or config.base
    if not revision:
        raise InvalidMeasurement(
            f"no base is pinned in {config.file}: there is nothing to compare this tree with",
            code="no-base",
            hint='set base = "<commit>" there (git rev-parse HEAD prints one), or pass --base REV',
        )
    commit = commit_of(revision, root)
    seeds = random.Random(seed)
    rows = []
    with builder(root, commit, config.build, note) as builds:
        for scenario in config.scenarios:
            note(f"measuring {scenario.name}")
            try:
                rows.append(_measure(scenario, builds, seeds, pairs_cap))
            except InvalidMeasurement as invalid:
                rows.append(ScenarioRow(scenario.name, "invalid", f"{invalid.message} (next: {invalid.hint})"))
    return GateOutcome(worst([row.verdict for row in rows]), commit, seed, tuple(rows))


def _measure(scenario: Scenario, builds: tuple[Build, Build], seeds: random.Random, cap: int) -> ScenarioRow:
    """One batch, and a second with a new seed where the first says fail: only a reproduced failure is one."""
    base, head = (_arm(scenario, build) for build in builds)
    first_seed, second_seed = seeds.getrandbits(32), seeds.getrandbits(32)
    first, blocks = _batch(
        base, head, scenario, first_seed, cap, over=lambda answers: "fail" in answers or None not in answers
    )
    failed = [metric for metric in METRICS if first[metric].answer == "fail"]
    if not failed:
        rows = {metric: _metric_row(metric, scenario, first[metric], blocks) for metric in METRICS}
        return ScenarioRow(scenario.name, _worst(rows), _reason(rows, ()), rows, (first_seed,))
    second, blocks = _batch(
        base, head, scenario, second_seed, cap, metrics=failed, over=lambda answers: None not in answers
    )
    rows = {}
    for metric in failed:
        row = _metric_row(metric, scenario, second[metric], blocks)
        # A failure in one batch alone is none; neither is it a pass.
        rows[metric] = row if row.verdict == "fail" else row._replace(verdict="inconclusive")
    return ScenarioRow(scenario.name, _worst(rows), _reason(rows, failed), rows, (first_seed, second_seed))


def _batch(
    base: Arm,
    head: Arm,
    scenario: Scenario,
    seed: int,
    cap: int,
    *,
    metrics: Sequence[Metric] = METRICS,
    over: Callable[[Sequence[Answer]], bool],
) -> tuple[dict[Metric, Look], list[Block]]:
    """Blocks until the answers so far are ``over``, or no further look is allowed by ``cap``."""
    conditions = Conditions(
        payload=scenario.payload, seed=seed, timeout_s=scenario.timeout_s, allow_diff=scenario.allow_diff
    )
    seen: dict[Metric, Look] = dict.fromkeys(metrics, Look(None, 0, 0.0))
    blocks: list[Block] = []
    last = max(n for n in LOOKS if n <= cap)
    with Pairing((base, head), conditions) as pairing:
        for block in pairing.blocks():
            if block.number < 0:
                continue
            blocks.append(block)
            if len(blocks) not in LOOKS:
                continue
            for metric in metrics:
                if seen[metric].answer is None:
                    seen[metric] = look(log_ratios(blocks, metric), scenario.tolerance[metric])
            if len(blocks) == last or over([seen[metric].answer for metric in metrics]):
                break
    return seen, blocks


def _metric_row(metric: Metric, scenario: Scenario, seen: Look, blocks: Sequence[Block]) -> MetricRow:
    verdict: Verdict = seen.answer or "inconclusive"
    return MetricRow(verdict, scenario.tolerance[metric], ratio(log_ratios(blocks, metric)), seen.pairs, seen.z)


def _reason(rows: Mapping[Metric, MetricRow], failed_before: Sequence[Metric]) -> str:
    said = []
    for metric, row in rows.items():
        change = f"{metric} {row.ratio.value - 1:+.1%}, tolerated {row.tolerance:.0%}"
        if row.verdict == "fail":
            said.append(f"{change}: too much, in two independent batches")
        elif row.verdict == "inconclusive" and metric in failed_before:
            said.append(f"{change}: too much in a first batch, which a second did not reproduce")
        elif row.verdict == "inconclusive":
            said.append(f"{change}: not clear after {row.pairs} pairs")
    return "; ".join(said)


def _arm(scenario: Scenario, build: Build) -> Arm:
    """The scenario on one side, prepared: its program exists and its ``prepare`` commands have run."""
    argv = build.fill(scenario.argv)
    if "/" in argv[0] and not (build.work / argv[0]).exists():
        raise InvalidMeasurement(
            f"the scenario is missing on one side: {build.name} has no {scenario.argv[0]}",
            code="missing-side",
            hint="pin a base that has it, or take the scenario out of the gate file until then",
        )
    values = build.fill(list(scenario.environ.values()))
    environ = dict(zip(scenario.environ, values, strict=True))
    arm = Arm(build.name, " ".join(argv), (argv,), build.work, environ, home=build.home)
    for words in scenario.prepare:
        step = replace(arm, commands=(build.fill(words),))
        run = run_once(step, payload=scenario.payload, timeout_s=scenario.timeout_s)
        if run.exits != (0,):
            raise InvalidMeasurement(
                f"{build.name} could not be prepared: {' '.join(words)} exited {run.exits[0]}: {run.stderr_head}",
                code="prepare",
                hint=f"run it by hand in a checkout of {build.name}, or mend prepare in the gate file",
            )
    return arm


def _worst(rows: Mapping[Metric, MetricRow]) -> Verdict:
    return worst([row.verdict for row in rows.values()])


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict that decides over several; nothing at all is ``invalid``."""
    return next((verdict for verdict in _WORST_FIRST if verdict in verdicts), "invalid")


def as_data(outcome: GateOutcome) -> dict[str, Any]:
    """The ``data`` of ``hookbench gate --json``."""
    return {
        "verdict": outcome.verdict,
        "base": outcome.base,
        "seed": outcome.seed,
        "scenarios": [
            {
                "name": row.name,
                "verdict": row.verdict,
                "reason": row.reason,
                "seeds": list(row.seeds),
                "metrics": {
                    metric: {**measured._asdict(), "ratio": measured.ratio._asdict()}
                    for metric, measured in row.metrics.items()
                },
            }
            for row in outcome.scenarios
        ],
    }
