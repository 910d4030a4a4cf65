"""How busy the machine is: read before, between and after runs, never on the clock; each cause in words."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, Self

from overdeck.machine.load import Load, Pressure, Ticks, Worded, load_of, pressure_of, ticks_of, worded

BUSY_PRESSURE_PERCENT = 20.0
"""Share of the last 10 s in which some runnable task had to wait for a CPU."""
MUCH_PRESSURE = 0.20
"""Share of a whole measurement in which some runnable task had to wait for a CPU."""
MUCH_STEAL = 0.05
"""Share of the machine's CPU time that the hypervisor took while we measured."""


class Noise(NamedTuple):
    """One reading at ``at_ns`` (monotonic clock). None where this kernel does not say."""

    load: Load | None
    pressure: Pressure | None
    ticks: Ticks | None
    at_ns: int = 0

    def row(self) -> dict[str, float | int | None]:
        """The reading as a row of a raw file."""
        return {
            "at_ns": self.at_ns,
            "load1": self.load.one if self.load else None,
            "load5": self.load.five if self.load else None,
            "processors": self.load.processors if self.load else None,
            "stalled_us": self.pressure.stalled_us if self.pressure else None,
            "stalled_percent": self.pressure.percent if self.pressure else None,
            "steal_ticks": self.ticks.steal if self.ticks else None,
            "total_ticks": self.ticks.total if self.ticks else None,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """What ``row`` made; KeyError where it is none of ours."""
        return cls(
            None if row["load1"] is None else Load(row["load1"], row["load5"], row["processors"]),
            None if row["stalled_us"] is None else Pressure(row["stalled_us"], row["stalled_percent"]),
            None if row["steal_ticks"] is None else Ticks(row["steal_ticks"], row["total_ticks"]),
            row["at_ns"],
        )


def read_noise() -> Noise:
    """The machine right now; some tens of microseconds."""
    return understood(worded())


def understood(said: Worded) -> Noise:
    """What the kernel's words come to; the same words are read once."""
    return Noise(*_read(*said[1:]), said.at_ns)


@lru_cache(maxsize=4)
def _read(loadavg: str, stalled: str, stat: str) -> tuple[Load | None, Pressure | None, Ticks | None]:
    return load_of(loadavg), pressure_of(stalled), ticks_of(stat)


def busy_before(start: Noise) -> str | None:
    """A sentence where the machine was busy with something else before the first run, else None."""
    signs = []
    if start.load is not None and start.load.per_processor > 1:
        signs.append(f"load average {start.load.one:.1f} on {start.load.processors} CPUs")
    if start.pressure is not None and start.pressure.percent > BUSY_PRESSURE_PERCENT:
        signs.append(f"tasks waited for a CPU in {start.pressure.percent:.0f} % of the last 10 s")
    if not signs:
        return None
    return (
        f"the machine was busy before the first run ({'; '.join(signs)}): trust CPU, expect a wide wall interval"
    )


def stolen(start: Noise, end: Noise) -> str | None:
    """A sentence where the hypervisor took a visible share of the CPUs between two readings, else None."""
    if start.ticks is None or end.ticks is None:
        return None
    total = end.ticks.total - start.ticks.total
    share = (end.ticks.steal - start.ticks.steal) / total if total > 0 else 0.0
    if share < MUCH_STEAL:
        return None
    return (
        f"the hypervisor took {share:.0%} of this machine's CPU time during the measurement (steal): trust CPU "
        "more than wall, or measure on a machine that is not shared"
    )


def stalled(start: Noise, end: Noise, ours: str = "") -> str | None:
    """A sentence where tasks waited for a CPU in much of the time between two readings, else None.

    ``ours`` names what of it we made ourselves.
    """
    if start.pressure is None or end.pressure is None or end.at_ns <= start.at_ns:
        return None
    share = (end.pressure.stalled_us - start.pressure.stalled_us) * 1000 / (end.at_ns - start.at_ns)
    if share < MUCH_PRESSURE:
        return None
    return (
        f"tasks waited for a CPU in {min(share, 1):.0%} of the measurement (PSI{ours}): trust CPU more than wall, "
        "or stop what else runs (top) and measure again"
    )
