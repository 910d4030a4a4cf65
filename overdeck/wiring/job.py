"""The handlers of one kind of call, and what running them was measured to cost."""

from dataclasses import dataclass
from typing import NamedTuple

from overdeck.wiring.settings import Handler


class Job(NamedTuple):
    """The handlers that one event starts for one subject."""

    event: str
    subject: str
    handlers: tuple[Handler, ...]


@dataclass(frozen=True)
class Measured:
    """Medians of one job's runs. ``failures`` are (pointer, command, why) of handlers that never really ran."""

    wall_ms: float
    cpu_ms: float
    runs: int
    failures: tuple[tuple[str, str, str], ...] = ()
