"""What the machine, and each control group of the clients, lost or used between two readings, per second of it."""

from collections.abc import Mapping
from typing import NamedTuple

from overdeck.machine import cgroup, pressure
from overdeck.machine.reading import Reading, Roots

MACHINE = "the machine"


class Change(NamedTuple):
    """One place between two readings. None is what this place does not say, which is not zero."""

    place: str
    """MACHINE, or the folder of a control group."""
    waited: Mapping[str, float | None]
    """Resource of ``pressure.RESOURCES`` → share of the time in which some task stood still for it, 0 to 1."""
    throttled: int | None
    """Periods of the CPU quota in which the group was stopped."""
    periods: int | None
    throttled_ms: float | None
    memory: int | None
    """Bytes now."""
    memory_grown: int | None
    memory_max: int | None
    read_per_s: float | None
    """Bytes a second from block devices."""
    written_per_s: float | None
    processes: int | None
    processes_max: int | None
    refused: int | None
    """Forks refused at the limit."""
    oom_kills: int | None


def changes(before: Reading, after: Reading, seconds: float, roots: Roots | None = None) -> list[Change]:
    """The machine first, then every group that is in both readings, innermost first. ``seconds`` passed between."""
    roots = roots or Roots()
    lost = pressure.grown(before.stalls, after.stalls)
    earlier = {group.path: group for group in before.groups}
    deltas = {delta.path: delta for delta in cgroup.delta(before.groups, after.groups)}

    def waited(place: object) -> dict[str, float | None]:
        shares = {one.resource: one.some_us / (seconds * 1e6) for one in lost if one.place == place}
        return {name: min(1.0, shares[name]) if name in shares else None for name in pressure.RESOURCES}

    rows = [Change(MACHINE, waited(roots.pressure), *[None] * 12)]
    for group in after.groups:
        if (delta := deltas.get(group.path)) is not None:
            rows.append(_of(group, earlier[group.path], delta, waited(group.path), seconds))
    return rows


def _of(
    group: cgroup.Group,
    before: cgroup.Group,
    delta: cgroup.Delta,
    waited: Mapping[str, float | None],
    seconds: float,
) -> Change:
    grown = group.memory - before.memory if group.memory is not None and before.memory is not None else None
    return Change(
        str(group.path),
        waited,
        delta.throttled if group.throttled is not None else None,
        delta.periods if group.periods is not None else None,
        delta.throttled_us / 1000 if group.throttled_us is not None else None,
        group.memory,
        grown,
        group.memory_max,
        delta.read / seconds if group.read is not None else None,
        delta.written / seconds if group.written is not None else None,
        group.pids,
        group.pids_max,
        delta.pids_refused if group.pids_refused is not None else None,
        delta.oom_kills if group.oom_kills is not None else None,
    )


def place_shown(change: Change) -> str:
    """``the machine``; of a group's folder its last two names, behind the controller where each has its own tree.

    >>> place_shown(Change("/sys/fs/cgroup/memory/slice/session-4.scope", {}, *[None] * 12))
    '…/slice/session-4.scope'
    """
    parts = change.place.split("/")
    return change.place if len(parts) < 7 else "…/" + "/".join(parts[-2:])
