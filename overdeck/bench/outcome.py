"""What a comparison says: each arm's own numbers, and every other arm against the first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from overdeck.bench.blocks import Block
from overdeck.bench.bootstrap import Estimate
from overdeck.bench.starts.counter import Starts
from overdeck.bench.statistics import Ratio

Metric = Literal["cpu", "wall"]
Verdict = Literal["faster", "slower", "no-difference"]
METRICS: tuple[Metric, ...] = ("cpu", "wall")
ALPHA = 0.01
"""What all verdicts of one comparison together may err when nothing differs."""


class Bucket(NamedTuple):
    """The runs of an arm that ended alike: exit codes of its commands, how many runs, medians."""

    exits: tuple[int | None, ...]
    runs: int
    wall_ms: float
    cpu_ms: float


class Side(NamedTuple):
    """One arm's own numbers: medians over the blocks that count."""

    name: str
    shown: str
    commands: int
    wall_ms: float
    cpu_ms: float
    rss_kb: int
    exits: tuple[int | None, ...]
    """Every code that was seen."""
    buckets: tuple[Bucket, ...]
    """The usual ending first: only its runs are in the numbers above, and in any ratio."""
    starts: Starts | None
    """None where they were not counted."""


class Contrast(NamedTuple):
    """One arm against the first, by metric; 1.0 means no difference."""

    arm: str
    verdict: Verdict
    decided: bool
    """False where ``--until-decided`` ran into its cap; then ``verdict`` is "no-difference"."""
    ratios: Mapping[Metric, Ratio]
    """Hodges-Lehmann, with p of the signed-rank test; under until-decided valid whenever one stops."""
    differences_ms: Mapping[Metric, Estimate]
    """The arm minus the first: against an arm that does nothing, what a hook itself costs."""
    slot_effects: Mapping[Metric, float]
    """What it costs to run after the first arm, as a ratio."""
    p90: Mapping[Metric, Estimate]
    mean: Mapping[Metric, Estimate]


class SelfCheck(NamedTuple):
    """A copy of the first arm against it: what differs here although nothing differs."""

    ratios: Mapping[Metric, Ratio]
    half_widths: Mapping[Metric, float]
    """Half the 95 % interval, as a share: the noise floor."""
    detectable: Mapping[Metric, float]
    """An increase found four times out of five with as many blocks: 1.62 half-widths."""


class Doubt(NamedTuple):
    """One reason to believe the numbers less: a stable word for its cause, and a sentence with what to do."""

    cause: str
    says: str


@dataclass(frozen=True)
class Comparison:
    """The outcome. ``sides`` holds the arms in their order, ``contrasts`` each but the first against the first."""

    sides: tuple[Side, ...]
    contrasts: tuple[Contrast, ...]
    metric: Metric
    until_decided: bool
    seed: int
    floor_kb: int
    """The spawner's size: an ``rss_kb`` that is not above it says nothing."""
    self_check: SelfCheck | None
    doubts: tuple[Doubt, ...]
    blocks: tuple[Block, ...]
    """The blocks that count, with every run of theirs."""

    @property
    def pairs(self) -> int:
        """How many blocks count."""
        return len(self.blocks)

    @property
    def a(self) -> Side:
        """The first arm."""
        return self.sides[0]

    @property
    def b(self) -> Side:
        """The second arm."""
        return self.sides[1]

    @property
    def verdict(self) -> Verdict:
        """The second arm against the first; of more arms see ``contrasts``."""
        return self.contrasts[0].verdict

    @property
    def ratios(self) -> Mapping[Metric, Ratio]:
        """The second arm over the first."""
        return self.contrasts[0].ratios

    @property
    def slot_effects(self) -> Mapping[Metric, float]:
        """What it cost the second arm to run after the first."""
        return self.contrasts[0].slot_effects

    @property
    def warnings(self) -> tuple[str, ...]:
        """The doubts as sentences."""
        return tuple(doubt.says for doubt in self.doubts)
