"""All counters of the machine and of some control groups at one moment: two readings say what happened in between."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from overdeck.machine import cgroup, load, pressure


@dataclass(frozen=True)
class Roots:
    """Where the kernel's files are: a test gives a tree of its own."""

    proc: Path = cgroup.PROC
    sysfs: Path = cgroup.SYSFS

    @property
    def pressure(self) -> Path:
        """The folder of the machine's own PSI."""
        return self.proc / "pressure"


@dataclass(frozen=True)
class Reading:
    """What the counters stood at. They count since boot, or since a group was made."""

    groups: list[cgroup.Group] = field(default_factory=list)
    stalls: list[pressure.Stall] = field(default_factory=list)
    ticks: load.Ticks | None = None


def read(roots: Roots, pids: Iterable[int | None]) -> Reading:
    """The machine and the groups of these processes (None: of this one) and their parents, now. Never raises."""
    groups: dict[Path, cgroup.Group] = {}
    folders: dict[Path, None] = {}
    for pid in pids:
        groups |= {g.path: g for g in cgroup.snapshot(proc=roots.proc, sysfs=roots.sysfs, pid=pid)}
        folders |= dict.fromkeys(cgroup.folders(proc=roots.proc, sysfs=roots.sysfs, pid=pid))
    tops = (roots.sysfs, roots.sysfs / "unified")  # what they say, /proc/pressure says of the machine
    return Reading(
        list(groups.values()),
        pressure.stalls(roots.proc, [folder for folder in folders if folder not in tops]),
        load.ticks(roots.proc / "stat"),
    )


def steal(before: Reading, after: Reading) -> float | None:
    """Share of the processors' time that the hypervisor took, 0 to 1; None where it is not said."""
    first, last = before.ticks, after.ticks
    if first is None or last is None or last.total <= first.total:
        return None
    return max(0, last.steal - first.steal) / (last.total - first.total)


def unsaid(roots: Roots, reading: Reading) -> list[str]:
    """What this system does not count, a sentence each: what is not there must not look like a quiet machine."""
    said = []
    if not any(stall.place == roots.pressure for stall in reading.stalls):
        said.append(f"no PSI here: {_why_no_pressure(roots.pressure)}")
    if not reading.groups:
        said.append("no control groups here: nothing says whether the clients are held back")
    elif all(stall.place == roots.pressure for stall in reading.stalls):
        said.append("no pressure of single groups here: only control groups of version 2 keep it")
    return said


def _why_no_pressure(folder: Path) -> str:
    file = folder / "cpu"
    try:
        file.read_bytes()
    except FileNotFoundError:
        return "this kernel keeps no pressure counters"
    except OSError as error:
        return f"{file} cannot be read ({error.strerror}); a kernel may need psi=1 at boot"
    return f"{file} says nothing"
