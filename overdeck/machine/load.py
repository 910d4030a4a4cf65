"""How busy the machine is: runnable processes, waiting for a processor (PSI), and time the hypervisor took.

All of it is read for the whole machine. Nothing here raises: what a system does not say is None.
"""

import os
import time
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


class Worded(NamedTuple):
    """The machine as the kernel words it; what a system does not say is empty."""

    at_ns: int
    """Of the monotonic clock."""
    loadavg: str
    """Averages over one, five and fifteen minutes, in words."""
    pressure: str
    """The first line of /proc/pressure/cpu."""
    stat: str
    """The first line of /proc/stat."""


def worded() -> Worded:
    """The machine now; some tens of microseconds."""
    try:
        loadavg = " ".join(map(str, os.getloadavg()))
    except OSError:
        loadavg = ""
    return Worded(time.monotonic_ns(), loadavg, _first_line(PRESSURE), _first_line(STAT))


def load() -> Load | None:
    """The load now."""
    try:
        one, five, _ = os.getloadavg()
    except OSError:
        return None
    return Load(one, five, processors())


def load_of(loadavg: str) -> Load | None:
    """The load in the kernel's words."""
    try:
        one, five = map(float, loadavg.split()[:2])
    except ValueError:
        return None
    return Load(one, five, processors())


def pressure_of(line: str) -> Pressure | None:
    """The CPU pressure in the first line of its file."""
    try:
        some = dict(word.split("=") for word in line.split()[1:])
        return Pressure(int(some["total"]), float(some["avg10"]))
    except (KeyError, ValueError):
        return None


def ticks_of(line: str) -> Ticks | None:
    """The processors' time in the first line of their file."""
    try:
        counted = [int(word) for word in line.split()[1:]]
        return Ticks(counted[7], sum(counted[:8]))
    except (IndexError, ValueError):
        return None


def pressure(file: Path = PRESSURE) -> Pressure | None:
    """The CPU pressure now."""
    return pressure_of(_first_line(file))


def ticks(file: Path = STAT) -> Ticks | None:
    """The processors' time now."""
    return ticks_of(_first_line(file))


def _first_line(file: Path) -> str:
    """Read without the buffers and codecs of a text file: this is done between the runs of a measurement."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(fd, _LINE_BYTES).decode("ascii", "replace").partition("\n")[0]
    except OSError:
        return ""
    finally:
        os.close(fd)
