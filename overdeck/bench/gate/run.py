"""`gate`: has the head become dearer than the pinned base? Nothing that was not measured passes."""

import errno
import os
import random
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path

from overdeck.bench.arm import Arm, command_arm, event_arm
from overdeck.bench.blocks import Block, Conditions, Pairing, run_once
from overdeck.bench.gate.builds import Build, Sides, build_sides, commit_of, repository
from overdeck.bench.gate.bundles import bundled, pairs_a_block
from overdeck.bench.gate.checks import check_block, check_handlers, hint_of
from overdeck.bench.gate.config import scenario_names
from overdeck.bench.gate.scenario import GateConfig, Scenario
from overdeck.bench.gate.verdict import (
    CONTROL_PAIRS,
    ControlRow,
    MetricRow,
    Source,
    StartsRow,
    Verdict,
    judge_control,
    judge_starts,
    judge_times,
    worst,
)
from overdeck.bench.gate.words import reason
from overdeck.bench.noise import busy_before, read_noise, stolen
from overdeck.bench.outcome import Metric
from overdeck.bench.sequential import LOOKS
from overdeck.bench.starts.counter import StartCounter, Starts, counted_or_why, counter_or_why
from overdeck.errors import InvalidMeasurement, OverdeckError, usage

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
"""No space, quota, or right to write there; EFBIG is the quota of a ``ulimit -f``."""
_WHOLE_NAME = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")

Builder = Callable[[Path, str, Sequence[str], Callable[[str], None]], AbstractContextManager[Sides]]
"""(repository, base commit, build argv, narrator) → base, its copy and head, built, for the length of a ``with``."""

Follow = Callable[[Sequence[str], int], AbstractContextManager[Callable[[Sequence[Block]], None] | None]]
"""(names of two arms, most pairs) → what is told the blocks so far, for the length of a batch; None = nobody."""


@dataclass(frozen=True)
class ScenarioRow:
    """One scenario's outcome; ``reason`` says in words why it is not a plain pass, and what got cheaper.

    An invalid one has no rows: what was measured before it turned out invalid is not to be believed either.
    """

    name: str
    verdict: Verdict
    reason: str = ""
    metrics: Mapping[Metric, MetricRow] = field(default_factory=dict)
    starts: StartsRow | None = None
    control: ControlRow | None = None
    seeds: tuple[int, ...] = ()
    """One a batch: a second batch was needed where there are two."""


@dataclass(frozen=True)
class GateOutcome:
    """The verdict over all scenarios: the worst of them."""

    verdict: Verdict
    base: str
    seed: int
    scenarios: tuple[ScenarioRow, ...]
    warnings: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Scenarios that the base's gate file has and this one has not: they passed nothing."""


def run_gate(
    config: GateConfig,
    *,
    seed: int,
    base: str | None = None,
    pairs_cap: int = LOOKS[-1],
    note: Callable[[str], None] = lambda _: None,
    follow: Follow = lambda *_: nullcontext(),
    builder: Builder = build_sides,
) -> GateOutcome:
    """Build the base and the work tree around ``config.file``, measure every scenario on both, judge each.

    ``base`` overrides the pinned commit; ``pairs_cap`` (16 … 80) bounds the blocks of a batch; ``note`` is told what
    goes on, ``follow`` each block. Raises InvalidMeasurement where there is no base, a side does not build, or the
    disk takes no more; a scenario that cannot be compared is an ``invalid`` row.
    """
    if not LOOKS[0] <= pairs_cap <= LOOKS[-1]:
        raise usage(
            f"a cap of {pairs_cap} pairs: a batch has {LOOKS[0]} to {LOOKS[-1]}",
            hint=f"--pairs-cap {LOOKS[0]} is the least, {LOOKS[-1]} the most and the default",
        )
    root = repository(config.file.absolute().parent)
    commit = commit_of(base or _pinned(config), root)
    start = read_noise()
    warnings: list[str] = [busy] if (busy := busy_before(start)) else []
    try:
        with builder(root, commit, config.build, note) as sides, counter_or_why() as counter:
            dropped = _dropped(config, root, sides.base, warnings)
            measuring = _Measuring(sides, counter, random.Random(seed), pairs_cap, follow, warnings)
            rows = []
            for scenario in config.scenarios:
                note(f"measuring {scenario.name}")
                rows.append(measuring.row(scenario))
    except OSError as error:
        raise _stopped(error) from None
    if taken := stolen(start, read_noise()):
        warnings.append(taken)
    return GateOutcome(worst([row.verdict for row in rows]), commit, seed, tuple(rows), tuple(warnings), dropped)


def _stopped(error: OSError) -> InvalidMeasurement:
    """What an OSError on the way to an outcome is to the user: no room, or whatever it is."""
    file = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    if error.errno in _NO_ROOM:
        return InvalidMeasurement(
            f"the gate could not write {file or 'what it measures'}: {error.strerror}",
            code="no-room",
            hint="df -h; TMPDIR says where the checkouts are built",
        )
    return InvalidMeasurement(
        f"the gate could not go on: {f'{file}: ' if file else ''}{error.strerror or error}",
        code="gate-stopped",
        hint=shlex.join(["ls", "-ld", file])
        if file
        else "run the gate again; ulimit -a says what this process may use",
    )


def _pinned(config: GateConfig) -> str:
    """The base of the gate file: a whole commit name. A branch or HEAD moves by itself, and then everything passes."""
    if not config.base:
        raise InvalidMeasurement(
            f"no base is pinned in {config.file}: there is nothing to compare this tree with",
            code="no-base",
            hint='set base = "<commit>" there (git rev-parse HEAD prints one), or pass --base REV',
        )
    if not _WHOLE_NAME.fullmatch(config.base):
        raise InvalidMeasurement(
            f"base = {config.base!r} in {config.file} is no pinned commit: what it names can move with every commit",
            code="not-pinned",
            hint=f"write the whole name there: {shlex.join(['git', 'rev-parse', config.base])}; or pass "
            f"{shlex.join(['--base', config.base])}",
        )
    return config.base


def _dropped(config: GateConfig, root: Path, base: Build, warnings: list[str]) -> tuple[str, ...]:
    """What the base's own gate file measures and this one does not: said, for a gate can be emptied bit by bit.

    Raises InvalidMeasurement where they have no scenario in common, or the base's own cannot be understood.
    """
    try:
        file = base.source / config.file.resolve().relative_to(root)
    except ValueError:
        warnings.append(
            f"{config.file} is outside the repository: nobody can tell whether it measures what the base's gate did"
        )
        return ()
    before, now = scenario_names(file), {scenario.name for scenario in config.scenarios}
    if before and not before & now:
        raise InvalidMeasurement(
            f"{config.file} has no scenario in common with the base's own: {', '.join(sorted(before))}",
            code="no-common-scenario",
            hint="keep one, or pin a base that measures the new ones",
        )
    dropped = tuple(sorted(before - now))
    warnings += [f"scenario {name!r}, which the base's gate file has, is not measured" for name in dropped]
    return dropped


class _Measuring:
    """One gate's scenarios, one after another: the stages are numbered, so that no two share a HOME."""

    def __init__(
        self,
        sides: Sides,
        counter: StartCounter | str,
        seeds: random.Random,
        cap: int,
        follow: Follow,
        warnings: list[str],
    ) -> None:
        self.sides = sides
        self.counter = counter
        self.seeds = seeds
        self.cap = cap
        self.follow = follow
        self.warnings = warnings
        self._stages = count(1)

    def row(self, scenario: Scenario) -> ScenarioRow:
        try:
            return self._measured(scenario)
        except OverdeckError as invalid:
            hint = hint_of(invalid.code, invalid.hint)
            return ScenarioRow(scenario.name, "invalid", f"{invalid.message} (next: {hint})")

    def _measured(self, scenario: Scenario) -> ScenarioRow:
        pair = self._staged(scenario, self.sides.base, self.sides.head)
        first = self._count(scenario, pair)
        starts = judge_starts(
            *first,
            scenario.tolerance.starts,
            again=lambda: self._count(scenario, self._staged(scenario, self.sides.base, self.sides.head)),
        )
        control = judge_control(
            self._source(scenario, self.sides.base, self.sides.control, CONTROL_PAIRS), self.seeds
        )
        source = self._source(scenario, self.sides.base, self.sides.head, self.cap)
        timed = judge_times(source, scenario.tolerance, self.seeds, self.cap)
        verdicts = [starts.verdict, *(row.verdict for row in timed.rows.values())]
        if control.verdict == "unclear":
            verdicts.append("inconclusive")
        said = reason(timed.rows, starts, control)
        return ScenarioRow(scenario.name, worst(verdicts), said, timed.rows, starts, control, timed.seeds)

    def _source(self, scenario: Scenario, a: Build, b: Build, pairs: int) -> Source:
        @contextmanager
        def source(seed: int) -> Iterator[Iterator[Block]]:
            # What the sides may differ in is the scenario's to say: see check_block.
            conditions = Conditions(
                payload=scenario.payload, seed=seed, timeout_s=scenario.timeout_s, allow_diff=True
            )
            arms = self._staged(scenario, a, b)
            with self.follow((a.name, b.name), pairs) as told, Pairing(arms, conditions) as pairing:
                yield _counting(scenario, pairing, told, bundles=b is not self.sides.control)

        return source

    def _staged(self, scenario: Scenario, a: Build, b: Build) -> tuple[Arm, Arm]:
        stage = next(self._stages)
        pair = _arm(scenario, a.staged(stage)), _arm(scenario, b.staged(stage))
        check_handlers(pair)
        return pair

    def _count(self, scenario: Scenario, pair: tuple[Arm, Arm]) -> tuple[Starts | str, Starts | str]:
        base, head = (
            counted_or_why(self.counter, arm, payload=scenario.payload, timeout_s=scenario.timeout_s)
            for arm in pair
        )
        counts = [side for side in (base, head) if isinstance(side, Starts)]
        for warning in dict.fromkeys(warning for counted in counts for warning in counted.warnings):
            self.warnings.append(f"{scenario.name}: {warning}")
        return base, head


def _counting(
    scenario: Scenario, pairing: Pairing, told: Callable[[Sequence[Block]], None] | None, *, bundles: bool
) -> Iterator[Block]:
    """The blocks behind the warm-up, each checked; ``told`` hears of each.

    ``bundles``: those of a short call are bundled. Not for the control: it would see differences below any tolerance,
    which two places on a disk can make, and call the whole scenario invalid.
    """
    checked = _checked(scenario, pairing)
    warm_up = list(islice(checked, pairing.conditions.warm_up))
    blocks: list[Block] = []
    for block in bundled(checked, pairs_a_block(warm_up) if bundles else 1):
        blocks.append(block)
        if told:
            told(blocks)
        yield block


def _checked(scenario: Scenario, pairing: Pairing) -> Iterator[Block]:
    for block in pairing.blocks():
        check_block(scenario, pairing.arms, block.runs)
        yield block


def _arm(scenario: Scenario, build: Build) -> Arm:
    """The scenario on one side, prepared: its program exists and its ``prepare`` commands have run."""
    values = build.fill(list(scenario.environ.values()))
    environ = dict(zip(scenario.environ, values, strict=True))
    if scenario.settings:
        (file,) = build.fill([scenario.settings.file])
        if not Path(file).exists():
            raise _one_sided(build, scenario.settings.file)
        _, event, tool, handler = scenario.settings
        arm = event_arm(build.name, Path(file), event, tool, only=handler, home=build.home)
    else:
        argv = build.fill(scenario.argv)
        if "/" in argv[0] and not (build.work / argv[0]).exists():
            raise _one_sided(build, scenario.argv[0])
        arm = command_arm(build.name, argv, cwd=build.work)
    arm = replace(arm, environ={**arm.environ, **environ}, home=build.home)
    for words in scenario.prepare:
        step = replace(
            command_arm(build.name, build.fill(words), cwd=build.work), environ=environ, home=build.home
        )
        run = run_once(step, payload=scenario.payload, timeout_s=scenario.timeout_s)
        if run.exits != (0,):
            raise InvalidMeasurement(
                f"{build.name} could not be prepared: {shlex.join(words)} exited {run.exits[0]}: {run.stderr_head}",
                code="prepare",
                hint=f"run it by hand in a checkout of {build.name}, or mend prepare in the gate file",
            )
    return arm


def _one_sided(build: Build, what: str) -> InvalidMeasurement:
    return InvalidMeasurement(
        f"the scenario is missing on one side: {build.name} has no {what}",
        code="missing-side",
        hint="pin a base that has it, or take the scenario out of the gate file until then",
    )
