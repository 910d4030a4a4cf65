"""What the control groups of a process say: is the machine holding it back?

Both hierarchies are read: v2 (``cpu.stat``, ``pids.*``, ``memory.*``, ``io.stat``) and v1, where each controller
has a tree of its own. Limits of a parent bind as well, so every group up to the root is read. A file that is not
there says nothing; nothing here raises.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
SYSFS = Path("/sys/fs/cgroup")

_V1 = ("cpu", "pids", "memory", "blkio")
_LONGEST = 20
"""Digits of the largest number of 64 bits."""
_UNLIMITED = 1 << 60
"""Version 1 words "no limit" as the largest number of pages there is."""


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
    memory: int | None = None
    """Bytes now, page cache included."""
    memory_max: int | None = None
    read: int | None = None
    """Bytes from block devices."""
    written: int | None = None


@dataclass(frozen=True)
class Delta:
    """What happened in one group between two snapshots."""

    path: Path
    periods: int
    throttled: int
    throttled_us: int
    pids_refused: int
    oom_kills: int
    read: int
    written: int


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
            _grown(earlier[group.path].read, group.read),
            _grown(earlier[group.path].written, group.written),
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
            roots = [sysfs / name for name in names if _is_folder(sysfs / name)]
            if names and not roots:
                roots = [sysfs / controllers]  # cpu,cpuacct, where no link leads there
        for root in roots:
            folder = root / path.lstrip("/")
            if ".." in folder.parts or not _is_folder(folder):
                folder = root
            while folder != root and folder.is_relative_to(root):
                yield folder
                folder = folder.parent
            if _is_folder(root):
                yield root


def _read(folder: Path) -> Group:
    cpu = _table(folder / "cpu.stat")
    throttled_us = cpu.get("throttled_usec")
    if throttled_us is None and "throttled_time" in cpu:  # v1 counts nanoseconds
        throttled_us = cpu["throttled_time"] // 1000
    memory = _table(folder / "memory.events") or _table(folder / "memory.oom_control")
    limit = _first_of(folder, "memory.max", "memory.limit_in_bytes")
    read, written = _disk(folder)
    return Group(
        path=folder,
        periods=cpu.get("nr_periods"),
        throttled=cpu.get("nr_throttled"),
        throttled_us=throttled_us,
        pids=_number(folder / "pids.current"),
        pids_max=_number(folder / "pids.max"),
        pids_refused=_table(folder / "pids.events").get("max"),
        oom_kills=memory.get("oom_kill"),
        memory=_first_of(folder, "memory.current", "memory.usage_in_bytes"),
        memory_max=limit if limit is not None and limit < _UNLIMITED else None,
        read=read,
        written=written,
    )


def _disk(folder: Path) -> tuple[int | None, int | None]:
    """Bytes read and written, over all devices: ``8:0 rbytes=1 wbytes=2 …`` in v2, ``8:0 Read 1`` lines in v1."""
    totals: dict[str, int] = {}
    for line in _lines(folder / "io.stat"):
        for word in line.split()[1:]:
            name, _, value = word.partition("=")
            if (number := _whole(value)) is not None:
                totals[name] = totals.get(name, 0) + number
    if totals:
        return totals.get("rbytes"), totals.get("wbytes")
    for line in _lines(folder / "blkio.throttle.io_service_bytes"):
        words = line.split()
        if len(words) == 3 and (number := _whole(words[2])) is not None:
            totals[words[1]] = totals.get(words[1], 0) + number
    return totals.get("Read"), totals.get("Write")


def _first_of(folder: Path, *names: str) -> int | None:
    return next((found for name in names if (found := _number(folder / name)) is not None), None)


def _table(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _lines(path))
    return {pair[0]: number for pair in pairs if len(pair) == 2 and (number := _whole(pair[1])) is not None}


def _number(path: Path) -> int | None:
    """The number a file holds; None for ``max`` and for no file."""
    return _whole("".join(_lines(path)[:1]).strip())


def _whole(text: str) -> int | None:
    """A counter of the kernel; None for what is none: a file system in the kernel's place may say anything."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST else None


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # closed to us, or a name that is too long for one
        return False


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _grown(before: int | None, after: int | None) -> int:
    return max(0, after - before) if before is not None and after is not None else 0
