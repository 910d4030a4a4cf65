"""The machine watched for a while: what its counters grew by. An absolute says what happened since boot, not now."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from overdeck.machine import cgroup, guardlog, pressure
from overdeck.machine.processes import Process, table
from overdeck.machine.reading import Roots, read, steal

SAMPLE_S = 0.5
"""How often the process table is read in a window that is long enough to see generations of processes."""
LONG_S = 5.0


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
    before, began = read(roots, watched), clock()
    samples = [first]
    pieces = max(1, round(seconds / SAMPLE_S)) if seconds >= LONG_S else 1
    for _ in range(pieces):
        sleep(seconds / pieces)  # the window that was asked for
        samples.append(tuple(read_table()))
    after, passed = read(roots, watched), clock() - began
    return Window(
        seconds=max(seconds, passed),
        changes=tuple(cgroup.delta(before.groups, after.groups)),
        groups=tuple(after.groups),
        stalls=tuple(pressure.grown(before.stalls, after.stalls)),
        steal=steal(before, after),
        kills=tuple(guardlog.kills(place) for place in places),
        samples=tuple(samples),
    )
