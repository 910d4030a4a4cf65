"""The processes of hooks that are alive now: whose they are, how old, and which of them nobody waits for any more.

A process is one of a hook's where it is our front, or runs a command that settings wire below a client, and whatever is
below such a process. An orphan is one whose parent died before it: the kernel gave it to init or to a subreaper, and
no client will ever read what it says.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from overdeck.machine.processes import CLIENTS, FRONT, Process

REAPERS = ("init", "systemd", "launchd", "tini", "dumb-init", "docker-init", "catatonit", "s6-svscan", "runit")
"""What processes whose parent died are given to, besides process 1, by their names."""


class Known(NamedTuple):
    """A hook's process as an earlier look saw it."""

    started: float
    parent: int
    hook: str
    client: str


class HookProcess(NamedTuple):
    """One process of a hook."""

    process: Process
    hook: str
    """The hook's name; that of the nearest process above where this one is not itself wired."""
    parent: str
    """``claude 4711``."""
    client: str
    """The client above it, or that was; empty where nobody saw one."""
    orphan: bool

    def age_s(self, now: float) -> float:
        """Seconds it has been alive at ``now`` (seconds since the epoch)."""
        return max(0.0, now - self.process.started)


def hook_processes(table: Sequence[Process], known: Mapping[int, Known] | None = None) -> list[HookProcess]:
    """Those in ``table``, the oldest first. ``known`` is what ``remembered`` made of the look before."""
    known = known or {}
    by_pid = {process.pid: process for process in table}
    found: dict[int, HookProcess | None] = {}
    for process in table:
        _judge(process, by_pid, known, found)
    hooks = [hook for hook in found.values() if hook is not None and not hook.process.zombie]
    return sorted(hooks, key=lambda hook: (hook.process.started, hook.process.pid))


def remembered(hooks: Collection[HookProcess], known: Mapping[int, Known] | None = None) -> dict[int, Known]:
    """What the next look must know to tell an orphan: the parent that each had when it was first seen."""
    known = known or {}
    kept = {}
    for hook in hooks:
        process = hook.process
        before = known.get(process.pid)
        if before is not None and before.started == process.started:
            kept[process.pid] = before
        else:
            kept[process.pid] = Known(process.started, process.parent, hook.hook, hook.client)
    return kept


def _judge(
    process: Process,
    by_pid: Mapping[int, Process],
    known: Mapping[int, Known],
    found: dict[int, HookProcess | None],
) -> HookProcess | None:
    """What ``process`` is, its parent judged first: chains are as deep as processes nest."""
    chain = [process]
    seen = {process.pid}
    while (above := by_pid.get(chain[-1].parent)) is not None and above.pid not in seen:
        if chain[-1].pid in found:
            break
        chain.append(above)
        seen.add(above.pid)
    for one in reversed(chain):
        if one.pid not in found:
            found[one.pid] = _one(one, by_pid, known, found)
    return found[process.pid]


def _one(
    process: Process,
    by_pid: Mapping[int, Process],
    known: Mapping[int, Known],
    found: Mapping[int, HookProcess | None],
) -> HookProcess | None:
    above = by_pid.get(process.parent)
    before = known.get(process.pid)
    if before is not None and before.started != process.started:
        before = None  # the number is another process's by now
    hook_above = found.get(process.parent)
    if above is not None and above.client:
        client = shown_client(above)
    elif hook_above is not None:
        client = hook_above.client
    else:
        client = _client_above(process, by_pid)
    left = before is not None and before.parent != process.parent
    if not left and above is not None and not above.client and hook_above is None and process.hook:
        left = above.pid == 1 or above.name in REAPERS
    hook = process.hook or (hook_above.hook if hook_above else "") or (before.hook if before else "")
    wired = process.hook == FRONT or (process.hook and (client or left or before))
    if not (wired or hook_above or before):
        return None
    parent = f"{above.name} {above.pid}" if above is not None else str(process.parent)
    return HookProcess(process, hook, parent, client or (before.client if before else ""), left)


def _client_above(process: Process, by_pid: Mapping[int, Process]) -> str:
    seen: set[int] = set()
    above = by_pid.get(process.parent)
    while above is not None and above.pid not in seen:
        if above.client:
            return shown_client(above)
        seen.add(above.pid)
        above = by_pid.get(above.parent)
    return ""


def shown_client(process: Process) -> str:
    """``claude 4711``, however it was started."""
    named = (process.name, process.script.partition(".")[0])
    return f"{next((name for name in named if name in CLIENTS), process.name)} {process.pid}"
