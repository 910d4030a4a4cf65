"""What every export is made from: the runs of each arm that count, and what was found of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from statistics import median
from typing import NamedTuple, Protocol

from overdeck.bench.costs import cost
from overdeck.bench.outcome import Comparison, Metric
from overdeck.bench.report import sentences, starts_cell
from overdeck.bench.statistics import Ratio
from overdeck.spawn.launch import Run


class ArmRuns(NamedTuple):
    """One arm: its name, what the user typed for it, and its run of each block, in the order of the blocks."""

    name: str
    shown: str
    runs: tuple[Run, ...]
    starts: str = "-"
    """How many programs one run starts; "-" where they were not counted."""

    def times_ms(self, metric: Metric) -> list[float]:
        """Each run's CPU or wall time in ms."""
        return [cost(run, metric) for run in self.runs]

    @property
    def exits(self) -> str:
        """Every exit code that a command of it ended with, ``?`` for one that was cut off."""
        codes = {code for run in self.runs for code in run.exits}
        return ", ".join(sorted("?" if code is None else str(code) for code in codes))

    @property
    def rss_kb(self) -> int:
        """The largest process of any run."""
        return max(run.rss_kb for run in self.runs)

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
    floor_kb: int
    """The spawner's size: an arm's ``rss_kb`` that is not above it says nothing."""
    warnings: tuple[str, ...] = ()

    @property
    def pairs(self) -> int:
        """How many blocks there are."""
        return len(self.arms[0].runs)

    def log_ratios(self, arm: ArmRuns) -> list[float]:
        """log(arm / first arm) of each block, for the metric of the verdict; without blocks that have a zero."""
        pairs = zip(self.arms[0].times_ms(self.metric), arm.times_ms(self.metric), strict=True)
        return [log(other / first) for first, other in pairs if first > 0 and other > 0]


def measured(comparison: Comparison) -> Measured:
    """What an outcome's exports are made from."""
    return Measured(
        arms=tuple(
            ArmRuns(
                side.name,
                side.shown,
                tuple(block.runs[which] for block in comparison.blocks),
                starts_cell(side.starts),
            )
            for which, side in enumerate(comparison.sides)
        ),
        ratios={contrast.arm: contrast.ratios for contrast in comparison.contrasts},
        metric=comparison.metric,
        sentences=sentences(comparison),
        seed=comparison.seed,
        floor_kb=comparison.floor_kb,
        warnings=comparison.warnings,
    )


class Exporter(Protocol):
    """One format."""

    appends: bool
    """Whether it goes behind what the file holds already; else it takes its place."""

    def render(self, measured: Measured) -> bytes:
        """The bytes of one comparison."""
        ...
