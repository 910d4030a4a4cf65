"""PSI: how long tasks stood still for want of a processor, of memory or of the disk.

The kernel keeps one file for the whole machine and, in version 2 of control groups, one for each group. What is not
there says nothing; nothing here raises.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

RESOURCES = ("cpu", "memory", "io")


class Stall(NamedTuple):
    """Microseconds since boot in which some task, or every task, of ``place`` had to wait for ``resource``."""

    place: Path
    """``/proc/pressure``, or the folder of a control group."""
    resource: str
    some_us: int
    full_us: int


def stalls(proc: Path, groups: Iterable[Path]) -> list[Stall]:
    """The counters of the machine and of ``groups`` now."""
    files = [(proc / "pressure", name, proc / "pressure" / name) for name in RESOURCES]
    files += [(group, name, group / f"{name}.pressure") for group in groups for name in RESOURCES]
    found = []
    for place, resource, file in files:
        try:
            totals = _totals(file.read_text(encoding="ascii", errors="replace"))
        except (OSError, ValueError):
            continue
        if "some" in totals:
            found.append(Stall(place, resource, totals["some"], totals.get("full", 0)))
    return found


def grown(before: Iterable[Stall], after: Iterable[Stall]) -> list[Stall]:
    """What was lost between two readings, for each place and resource that is in both."""
    earlier = {(stall.place, stall.resource): stall for stall in before}
    return [
        stall._replace(
            some_us=max(0, stall.some_us - earlier[key].some_us),
            full_us=max(0, stall.full_us - earlier[key].full_us),
        )
        for stall in after
        if (key := (stall.place, stall.resource)) in earlier
    ]


def _totals(text: str) -> dict[str, int]:
    """``some avg10=… total=N`` and ``full …`` as kind → N."""
    lines = (line.split() for line in text.splitlines())
    return {words[0]: int(words[-1].removeprefix("total=")) for words in lines if words}
