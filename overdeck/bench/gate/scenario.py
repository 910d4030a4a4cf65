"""What a gate measures and tolerates: the values of a gate file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from overdeck.bench.outcome import Metric


class Tolerance(NamedTuple):
    """How much dearer than base is no failure: shares of CPU and wall time, and a number of program starts."""

    cpu: float = 0.03
    wall: float = 0.10
    starts: int = 0

    def share(self, metric: Metric) -> float:
        return self.cpu if metric == "cpu" else self.wall


class Settings(NamedTuple):
    """A scenario that is what a client would start for ``event`` on ``tool``, or one ``handler`` of that.

    ``file`` has placeholders.
    """

    file: str
    event: str
    tool: str
    handler: str | None


@dataclass(frozen=True)
class Scenario:
    """One thing a fleet does all day, measured on both sides: an ``argv``, or the hooks of a settings file."""

    name: str
    argv: tuple[str, ...]
    payload: bytes
    tolerance: Tolerance
    settings: Settings | None = None
    prepare: tuple[tuple[str, ...], ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 60.0
    exits: frozenset[int] = frozenset({0})
    """How a command of either side may end; any other exit code is a failure, and measures nothing."""
    allow_diff: bool = False


@dataclass(frozen=True)
class GateConfig:
    """The whole file; ``base`` empty = none pinned yet."""

    file: Path
    base: str
    build: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
