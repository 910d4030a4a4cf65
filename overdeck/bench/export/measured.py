"""What every export is made from: the runs of each arm that count, and what was found of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple, Protocol

from overdeck.bench.costs import cost, log_ratio
from overdeck.bench.outcome import Comparison, Metric
from overdeck.bench.report import exits_cell, sentences, size_cell, starts_cell
from overdeck.bench.statistics import Ratio
from overdeck.spawn.launch import Run


class ArmRuns(NamedTuple):
    """One arm: its name, what the user typed for it, and its run of each block, in the order of the blocks."""

    name: str
    shown: str
    runs: tuple[Run, ...]
    starts: str
    rss: str
    exits: str
    """These three as ``ab`` prints them."""

    def times_ms(self, metric: Metric) -> list[float]:
        """Each run's CPU or wall time in ms."""
        return [cost(run, metric) for run in self.runs]

    def median_ms(self, metric: Metric) -> float:
        return median(self.times_ms(metric))


@dataclass(frozen=True)
class Measured:
    """What was found. ``arms`` have as many runs each; ``ratios`` are those of all others over the first, by name."""

    arms: tuple[ArmRuns, ...]
    ratios: Mapping[str, Mapping[Metric, Ratio]]
    metric: Metric
    """The one that carries the verdict."""
    sentences: tuple[str, ...]
    """The outcome in words, one for each arm but the first."""
    seed: int
    warnings: tuple[str, ...] = ()

    @property
    def pairs(self) -> int:
        """How many blocks there are."""
        return len(self.arms[0].runs)

    def log_ratios(self, arm: ArmRuns) -> list[float]:
        """log(arm / first arm) of each block, for the metric of the verdict."""
        pairs = zip(self.arms[0].runs, arm.runs, strict=True)
        return [log_ratio(first, run, self.metric) for first, run in pairs]


def measured(comparison: Comparison) -> Measured:
    """What an outcome's exports are made from."""
    return Measured(
        arms=tuple(
            ArmRuns(
                side.name,
                side.shown,
                tuple(block.runs[which] for block in comparison.blocks),
                starts=starts_cell(side.starts),
                rss=size_cell(side.rss_kb, comparison.floor_kb),
                exits=exits_cell(side.buckets),
            )
            for which, side in enumerate(comparison.sides)
        ),
        ratios={contrast.arm: contrast.ratios for contrast in comparison.contrasts},
        metric=comparison.metric,
        sentences=sentences(comparison),
        seed=comparison.seed,
        warnings=comparison.warnings,
    )


class Exporter(Protocol):
    """One format."""

    appends: bool
    """Whether it goes behind what the file holds already; else it takes its place."""

    def render(self, measured: Measured) -> bytes:
        """The bytes of one comparison."""
        ...
