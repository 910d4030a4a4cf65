"""The machine watched for a while: what its counters grew by. An absolute says what happened since boot, not now."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from overdeck.machine import cgroup, guardlog, load, pressure
from overdeck.machine.processes import Process, table

SAMPLE_S = 0.5
"""How often the process table is read in a window that is long enough to see generations of processes."""
LONG_S = 5.0


@dataclass(frozen=True)
class Roots:
    """Where the kernel's files are: a test gives a tree of its own."""

    proc: Path = cgroup.PROC
    sysfs: Path = cgroup.SYSFS


@dataclass(frozen=True)
class Window:
    """What changed in ``seconds``. Groups, stalls and processes of the end are those that are still there."""

    seconds: float
    changes: tuple[cgroup.Delta, ...]
    groups: tuple[cgroup.Group, ...]
    stalls: tuple[pressure.Stall, ...]
    """What each place lost in the window."""
    steal: float | None
    """Share of the processors' time that the hypervisor took, 0 to 1; None where it is not said."""
    kills: tuple[guardlog.Kills, ...]
    samples: tuple[tuple[Process, ...], ...]
    """The process table, at least at both ends."""

    @property
    def processes(self) -> tuple[Process, ...]:
        return self.samples[-1]

    @property
    def long(self) -> bool:
        """Whether it was long enough to see a program being started again and again."""
        return self.seconds >= LONG_S


def watch(
    seconds: float,
    *,
    roots: Roots | None = None,
    pids: Iterable[int] = (),
    guard_logs: Iterable[Path] = guardlog.USUAL,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    read_table: Callable[[], Sequence[Process]] = table,
) -> Window:
    """Watch the groups of this process, of ``pids`` and of every client that runs, for ``seconds`` at least.

    A busy machine wakes us late: shares are of the time that passed.
    """
    roots = roots or Roots()
    first = tuple(read_table())
    watched = (None, *dict.fromkeys((*pids, *(process.pid for process in first if process.client))))
    places = guardlog.open_places(guard_logs)
    before, began = _Reading(roots, watched), clock()
    samples = [first]
    pieces = max(1, round(seconds / SAMPLE_S)) if seconds >= LONG_S else 1
    for _ in range(pieces):
        sleep(seconds / pieces)
        samples.append(tuple(read_table()))
    after, passed = _Reading(roots, watched), clock() - began
    return Window(
        seconds=max(seconds, passed),
        changes=tuple(cgroup.delta(before.groups, after.groups)),
        groups=tuple(after.groups),
        stalls=tuple(pressure.grown(before.stalls, after.stalls)),
        steal=_steal(before.ticks, after.ticks),
        kills=tuple(guardlog.kills(place) for place in places),
        samples=tuple(samples),
    )


class _Reading:
    """All counters at one moment."""

    def __init__(self, roots: Roots, pids: Iterable[int | None]) -> None:
        groups: dict[Path, cgroup.Group] = {}
        folders: dict[Path, None] = {}
        for pid in pids:
            groups |= {g.path: g for g in cgroup.snapshot(proc=roots.proc, sysfs=roots.sysfs, pid=pid)}
            folders |= dict.fromkeys(cgroup.folders(proc=roots.proc, sysfs=roots.sysfs, pid=pid))
        self.groups = list(groups.values())
        tops = (roots.sysfs, roots.sysfs / "unified")  # what they say, /proc/pressure says of the machine
        self.stalls = pressure.stalls(roots.proc, [folder for folder in folders if folder not in tops])
        self.ticks = load.ticks(roots.proc / "stat")


def _steal(before: load.Ticks | None, after: load.Ticks | None) -> float | None:
    if before is None or after is None or after.total <= before.total:
        return None
    return max(0, after.steal - before.steal) / (after.total - before.total)
