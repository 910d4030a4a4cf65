"""How busy the machine is: read before, between and after runs, never on the clock."""

import os
from pathlib import Path
from typing import NamedTuple

_PRESSURE = Path("/proc/pressure/cpu")
_STAT = Path("/proc/stat")
BUSY_PRESSURE_PERCENT = 20.0
"""Share of the last 10 s in which some runnable task had to wait for a CPU."""
MUCH_STEAL = 0.05
"""Share of the machine's CPU time that the hypervisor took while we measured."""


class Noise(NamedTuple):
    """One reading. None where this kernel does not say."""

    load1: float
    stalled_us: int | None
    """PSI ``some`` total, µs: the difference of two readings is what was lost between them."""
    stalled_percent: float | None
    """PSI ``some`` over the last 10 s."""
    steal_ticks: int | None
    total_ticks: int | None


def read_noise() -> Noise:
    """The machine right now; a few microseconds."""
    stalled_us = stalled_percent = steal = total = None
    try:
        some = dict(word.split("=") for word in _PRESSURE.read_text().splitlines()[0].split()[1:])
        stalled_us, stalled_percent = int(some["total"]), float(some["avg10"])
    except (OSError, IndexError, KeyError, ValueError):
        pass
    try:
        ticks = [int(word) for word in _STAT.read_text().split("\n", 1)[0].split()[1:]]
        steal, total = ticks[7], sum(ticks[:8])
    except (OSError, IndexError, ValueError):
        pass
    return Noise(os.getloadavg()[0], stalled_us, stalled_percent, steal, total)


def busy_before(start: Noise, cpus: int) -> str | None:
    """A sentence where the machine was busy with something else before the first run, else None."""
    signs = []
    if start.load1 > cpus:
        signs.append(f"load average {start.load1:.1f} on {cpus} CPUs")
    if start.stalled_percent is not None and start.stalled_percent > BUSY_PRESSURE_PERCENT:
        signs.append(f"tasks waited for a CPU in {start.stalled_percent:.0f} % of the last 10 s")
    if not signs:
        return None
    return (
        f"the machine was busy before the first run ({'; '.join(signs)}): trust CPU, expect a wide wall interval"
    )


def stolen(start: Noise, end: Noise) -> str | None:
    """A sentence where the hypervisor took a visible share of the CPUs between two readings, else None."""
    if (
        start.steal_ticks is None
        or end.steal_ticks is None
        or start.total_ticks is None
        or end.total_ticks is None
    ):
        return None
    total = end.total_ticks - start.total_ticks
    share = (end.steal_ticks - start.steal_ticks) / total if total > 0 else 0.0
    if share < MUCH_STEAL:
        return None
    return f"the hypervisor took {share:.0%} of this machine's CPU time during the measurement"
