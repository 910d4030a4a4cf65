"""How busy the machine is: read before, between and after runs, never on the clock."""

from typing import NamedTuple

from overdeck.machine.load import Load, Pressure, Ticks, load, pressure, ticks

BUSY_PRESSURE_PERCENT = 20.0
"""Share of the last 10 s in which some runnable task had to wait for a CPU."""
MUCH_STEAL = 0.05
"""Share of the machine's CPU time that the hypervisor took while we measured."""


class Noise(NamedTuple):
    """One reading. None where this kernel does not say."""

    load: Load | None
    pressure: Pressure | None
    ticks: Ticks | None

    def row(self) -> dict[str, float | int | None]:
        """The reading as a row of a raw file."""
        return {
            "load1": self.load.one if self.load else None,
            "stalled_us": self.pressure.stalled_us if self.pressure else None,
            "stalled_percent": self.pressure.percent if self.pressure else None,
            "steal_ticks": self.ticks.steal if self.ticks else None,
            "total_ticks": self.ticks.total if self.ticks else None,
        }


def read_noise() -> Noise:
    """The machine right now; a few microseconds."""
    return Noise(load(), pressure(), ticks())


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
    return f"the hypervisor took {share:.0%} of this machine's CPU time during the measurement"
