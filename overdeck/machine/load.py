"""How busy the machine is: runnable processes, waiting for a processor (PSI), and time the hypervisor took.

All of it is read for the whole machine. Nothing here raises: what a system does not say is None.
"""

import os
from pathlib import Path
from typing import NamedTuple

from overdeck.machine.processors import processors

PRESSURE = Path("/proc/pressure/cpu")
STAT = Path("/proc/stat")
_LINE_BYTES = 512


class Load(NamedTuple):
    """Runnable processes, averaged over one and five minutes, and the processors for them."""

    one: float
    five: float
    processors: int

    @property
    def per_processor(self) -> float:
        return self.one / self.processors


class Pressure(NamedTuple):
    """PSI ``some`` of the CPU: some runnable task had to wait."""

    stalled_us: int
    """Since boot, µs: the difference of two readings is what was lost between them."""
    percent: float
    """Share of the last 10 s."""


class Ticks(NamedTuple):
    """CPU time of all processors since boot, in ticks."""

    steal: int
    """Taken by the hypervisor."""
    total: int


def load() -> Load | None:
    """The load now."""
    try:
        one, five, _ = os.getloadavg()
    except OSError:
        return None
    return Load(one, five, processors())


def pressure(file: Path = PRESSURE) -> Pressure | None:
    """The CPU pressure now."""
    try:
        some = dict(word.split("=") for word in _first_line(file).split()[1:])
        return Pressure(int(some["total"]), float(some["avg10"]))
    except (OSError, IndexError, KeyError, ValueError):
        return None


def ticks(file: Path = STAT) -> Ticks | None:
    """The processors' time now."""
    try:
        counted = [int(word) for word in _first_line(file).split()[1:]]
        return Ticks(counted[7], sum(counted[:8]))
    except (OSError, IndexError, ValueError):
        return None


def _first_line(file: Path) -> str:
    """Read without the buffers and codecs of a text file: this is done between the runs of a measurement."""
    fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, _LINE_BYTES).decode().partition("\n")[0]
    finally:
        os.close(fd)
