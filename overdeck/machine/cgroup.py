"""What the control groups of a process say: is the machine holding it back?

Both hierarchies are read: v2 (``cpu.stat``, ``pids.*``, ``memory.events``) and v1, where each controller has
a tree of its own. Limits of a parent bind as well, so every group up to the root is read. A file that is not
there says nothing; nothing here raises.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
SYSFS = Path("/sys/fs/cgroup")

_V1 = ("cpu", "pids", "memory")


@dataclass(frozen=True)
class Group:
    """One control group's counters since it was made; None where it does not say."""

    path: Path
    periods: int | None = None
    throttled: int | None = None
    throttled_us: int | None = None
    pids: int | None = None
    pids_max: int | None = None
    pids_refused: int | None = None
    oom_kills: int | None = None


@dataclass(frozen=True)
class Delta:
    """What happened in one group between two snapshots."""

    path: Path
    periods: int
    throttled: int
    throttled_us: int
    pids_refused: int
    oom_kills: int


def snapshot(*, proc: Path = PROC, sysfs: Path = SYSFS, pid: int | None = None) -> list[Group]:
    """The groups of process ``pid`` (this one where None) and their parents, innermost first.

    Empty where there are none (macOS), or where the process is gone.
    """
    groups = [_read(folder) for folder in folders(proc=proc, sysfs=sysfs, pid=pid)]
    return [group for group in groups if group != Group(group.path)]


def folders(*, proc: Path = PROC, sysfs: Path = SYSFS, pid: int | None = None) -> list[Path]:
    """The folders of these groups in both hierarchies, each once."""
    return list(dict.fromkeys(_folders(proc, sysfs, "self" if pid is None else str(pid))))


def delta(before: list[Group], after: list[Group]) -> list[Delta]:
    """What changed, per group that is in both. Counters never fall; a group made anew counts from zero."""
    earlier = {group.path: group for group in before}
    return [
        Delta(
            group.path,
            _grown(earlier[group.path].periods, group.periods),
            _grown(earlier[group.path].throttled, group.throttled),
            _grown(earlier[group.path].throttled_us, group.throttled_us),
            _grown(earlier[group.path].pids_refused, group.pids_refused),
            _grown(earlier[group.path].oom_kills, group.oom_kills),
        )
        for group in after
        if group.path in earlier
    ]


def _folders(proc: Path, sysfs: Path, pid: str) -> Iterator[Path]:
    """The folders that hold the process's groups, each with its parents.

    In a container the path in /proc may be the host's, absent here or written with ``..``; the mount's root is
    then the nearest to our group.
    """
    for line in _lines(proc / pid / "cgroup"):
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            roots = [sysfs, sysfs / "unified"]
        else:
            names = [name for name in controllers.split(",") if name in _V1]
            roots = [sysfs / name for name in names if (sysfs / name).is_dir()]
            if names and not roots:
                roots = [sysfs / controllers]  # cpu,cpuacct, where no link leads there
        for root in roots:
            folder = root / path.lstrip("/")
            if ".." in folder.parts or not folder.is_dir():
                folder = root
            while folder != root and folder.is_relative_to(root):
                yield folder
                folder = folder.parent
            if root.is_dir():
                yield root


def _read(folder: Path) -> Group:
    cpu = _table(folder / "cpu.stat")
    throttled_us = cpu.get("throttled_usec")
    if throttled_us is None and "throttled_time" in cpu:  # v1 counts nanoseconds
        throttled_us = cpu["throttled_time"] // 1000
    memory = _table(folder / "memory.events") or _table(folder / "memory.oom_control")
    return Group(
        path=folder,
        periods=cpu.get("nr_periods"),
        throttled=cpu.get("nr_throttled"),
        throttled_us=throttled_us,
        pids=_number(folder / "pids.current"),
        pids_max=_number(folder / "pids.max"),
        pids_refused=_table(folder / "pids.events").get("max"),
        oom_kills=memory.get("oom_kill"),
    )


def _table(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _lines(path))
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _number(path: Path) -> int | None:
    """The number a file holds; None for ``max`` and for no file."""
    text = "".join(_lines(path)[:1]).strip()
    return int(text) if text.isdigit() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _grown(before: int | None, after: int | None) -> int:
    return max(0, after - before) if before is not None and after is not None else 0
