"""What a comparison was and what it saw: all that an outcome is made from, live or from a file."""

import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from overdeck.bench.arm import Arm, Wait
from overdeck.bench.blocks import Block, Conditions, Observed
from overdeck.bench.noise import Noise
from overdeck.bench.outcome import Metric
from overdeck.bench.starts.counter import Starts
from overdeck.errors import InvalidMeasurement
from overdeck.machine.processors import processors
from overdeck.spawn.launch import Run


class PlannedArm(NamedTuple):
    """An arm as its raw record names it."""

    name: str
    shown: str
    commands: tuple[tuple[str, ...], ...]
    skipped: int
    """Matching handlers that are no command."""
    waits: tuple[Wait, ...]
    """How the client waits for each command; empty = for all, without a timeout."""
    conditional: int
    """Handlers with an ``if``."""


class Machine(NamedTuple):
    """What the runs ran on: no name, but what makes times differ."""

    system: str
    machine: str
    processors: int
    cpu_model: str
    python: str


@dataclass(frozen=True)
class Plan:
    """What the runs are runs of; ``arms`` ends with the copy of the first where ``self_check`` is set."""

    arms: tuple[PlannedArm, ...]
    seed: int
    metric: Metric
    pairs: int
    """Blocks asked for; under ``until_decided`` the most there may be."""
    warm_up: int
    until_decided: bool
    self_check: bool
    allow_diff: bool
    timeout_s: float
    stress: int
    prepare: tuple[tuple[str, ...], ...]
    cleanup: tuple[tuple[str, ...], ...]
    environ: tuple[str, ...]
    """Names only: a value may be a secret."""
    payload_bytes: int
    payload_sha256: str
    started: str
    version: str
    machine: Machine
    before: Noise
    """The machine before the first run."""
    control_in_place: bool = False
    """The self-check's copy is the first arm where it stands: copies of its files did other work."""

    @property
    def compared(self) -> int:
        """How many arms are compared, the first included and the self-check's copy not."""
        return len(self.arms) - self.self_check


@dataclass
class Recording:
    """A plan and what has been seen of it so far."""

    plan: Plan
    observed: list[Observed] = field(default_factory=list)
    starts: dict[str, Starts] = field(default_factory=dict)
    """By arm, without the tree of names."""
    uncounted: dict[str, str] = field(default_factory=dict)
    """By arm: why its starts could not be counted."""
    invalid: InvalidMeasurement | None = None
    ended: bool = False
    torn: bool = False
    """The file it was read from stops in the middle of a line."""

    def blocks(self) -> list[Block]:
        """The blocks of which every arm's run is there, warm-ups included, in their order."""
        index = {arm.name: which for which, arm in enumerate(self.plan.arms)}
        by_block: dict[int, dict[int, Run]] = {}
        for seen in self.observed:
            by_block.setdefault(seen.block, {})[index[seen.arm]] = seen.run
        return [
            Block(number, tuple(runs), tuple(runs[which] for which in range(len(index))))
            for number, runs in by_block.items()
            if len(runs) == len(index)
        ]


def make_plan(
    arms: Sequence[Arm],
    conditions: Conditions,
    *,
    metric: Metric,
    pairs: int,
    until_decided: bool,
    self_check: bool,
    stress: int,
    before: Noise,
    control_in_place: bool = False,
) -> Plan:
    """The plan of a comparison that is about to start."""
    from overdeck import __version__

    return Plan(
        arms=tuple(
            PlannedArm(arm.name, arm.shown, arm.commands, arm.skipped, arm.waits, arm.conditional) for arm in arms
        ),
        seed=conditions.seed,
        metric=metric,
        pairs=pairs,
        warm_up=conditions.warm_up,
        until_decided=until_decided,
        self_check=self_check,
        allow_diff=conditions.allow_diff,
        timeout_s=conditions.timeout_s,
        stress=stress,
        prepare=conditions.prepare,
        cleanup=conditions.cleanup,
        environ=tuple(sorted(conditions.environ)),
        payload_bytes=len(conditions.payload),
        payload_sha256=hashlib.sha256(conditions.payload).hexdigest(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        machine=this_machine(),
        before=before,
        control_in_place=control_in_place,
    )


def this_machine() -> Machine:
    """The facts of this machine that a reader of its numbers needs."""
    kernel = os.uname()
    return Machine(
        system=f"{kernel.sysname} {kernel.release}",
        machine=kernel.machine,
        processors=processors(),
        cpu_model=_cpu_model(),
        python=".".join(map(str, sys.version_info[:3])),
    )


def _cpu_model(file: Path = Path("/proc/cpuinfo")) -> str:
    """As the kernel names it; empty where it does not."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
