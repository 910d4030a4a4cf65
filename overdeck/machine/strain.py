"""Is the machine strained, and by what? One judgement of what was read, each reason in words with its bar.

The bars are those of ``overdeck doctor``, which looks longer and at more. What is not counted here accuses nobody, and
is named: a quiet machine and a blind one must not look the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from overdeck.machine.changes import MACHINE, Change, place_shown
from overdeck.machine.load import Load
from overdeck.plural import counted

BUSY_PER_PROCESSOR = 2.0
STOLEN = 0.1
THROTTLED = 0.1
"""Share of a quota's periods: less than this is what a quota is for."""
PIDS_NEARLY_FULL = 0.9
STALLED = {"cpu": 0.6, "memory": 0.1, "io": 0.4}
"""Share of the time in which somebody had to wait, from which on hooks are late for that."""
IN_HOOKS = 0.25
"""Share of a client's time that it waits for hooks: one call of 250 ms in each second is felt at every tool."""
DISK = "disk"

State = Literal["ok", "strained", "unknown"]


class Strain(NamedTuple):
    """One reason. ``about`` is its kind: load, steal, cpu, memory, io, throttled, processes, killed, orphans, hooks."""

    about: str
    said: str


class Seen(NamedTuple):
    """What is judged. ``seconds``: between the two readings that ``changes`` compares."""

    seconds: float
    watched: bool
    """Whether that is long enough for shares of it to mean anything."""
    changes: Sequence[Change]
    load: Load | None
    steal: float | None
    clients: int
    orphans: int
    hooks_ms_per_s: float
    """What all clients together wait for hooks, ms per second of the last minute."""
    readable: bool = True
    """Whether the process table could be read: without it clients and orphans are not counted."""


@dataclass(frozen=True)
class Verdict:
    """``unknown``: the second look is still to come, or nothing is counted. ``uncounted`` names what is not."""

    state: State
    strains: tuple[Strain, ...]
    uncounted: tuple[str, ...]

    @property
    def said(self) -> str:
        """The verdict in a sentence."""
        if self.strains:
            return f"machine strained because {'; '.join(one.said for one in self.strains)}"
        blind = f"not counted here: {', '.join(self.uncounted)}" if self.uncounted else ""
        if self.state == "unknown":
            return f"machine not judged: {blind or 'it was looked at once, the second look tells'}"
        return f"machine ok, as far as it tells ({blind})" if blind else "machine ok"


def judge(seen: Seen) -> Verdict:
    """The verdict on what was seen; reasons that hold without a second look are given after the first, too."""
    strains = tuple(_each_kind_once(_strains(seen)))
    uncounted = tuple(_uncounted(seen)) if seen.watched else ()
    if strains:
        return Verdict("strained", strains, uncounted)
    blind = not seen.watched or set(uncounted) >= set(_KINDS)
    return Verdict("unknown" if blind else "ok", (), uncounted)


def _each_kind_once(strains: Iterable[Strain]) -> Iterable[Strain]:
    """Limits of a parent bind, and its counters hold its children's: what one group suffers several tell."""
    places: dict[str, list[Strain]] = {}
    for strain in strains:
        places.setdefault(strain.about, []).append(strain)
    for first, *more in places.values():
        yield first._replace(said=f"{first.said}, and so in {counted(len(more), 'more group')}") if more else first


def _strains(seen: Seen) -> Iterable[Strain]:
    if seen.load is not None and seen.load.per_processor > BUSY_PER_PROCESSOR:
        bar = f"{BUSY_PER_PROCESSOR:g} for each"
        yield Strain(
            "load", f"load {seen.load.one:.1f} on {counted(seen.load.processors, 'processor')} (bar: {bar})"
        )
    if seen.watched:
        if seen.steal is not None and seen.steal >= STOLEN:
            yield Strain("steal", f"the hypervisor took {seen.steal:.0%} of the processors (bar: {STOLEN:.0%})")
        for change in seen.changes:
            yield from _of_place(change, f"{seen.seconds:.{int(seen.seconds < 10)}f} s")
    if seen.orphans:
        said = f"{_processes(seen.orphans)} of hooks {'has' if seen.orphans == 1 else 'have'} no client any more"
        yield Strain("orphans", said)
    share = seen.hooks_ms_per_s / 1000 / max(1, seen.clients)
    if share >= IN_HOOKS:
        who = "the client waits" if seen.clients <= 1 else f"each of {seen.clients} clients waits"
        yield Strain("hooks", f"{who} for hooks {share:.0%} of the time (bar: {IN_HOOKS:.0%})")


def _of_place(change: Change, span: str) -> Iterable[Strain]:
    where = "" if change.place == MACHINE else f" in {place_shown(change)}"
    for resource, bar in STALLED.items():
        share = change.waited.get(resource)
        if share is not None and share >= bar:
            name = DISK if resource == "io" else resource
            yield Strain(resource, f"somebody{where} waited for {name} {share:.0%} of {span} (bar: {bar:.0%})")
    if change.throttled and change.throttled >= THROTTLED * (change.periods or 0):
        said = f"the CPU quota{where} stopped it in {change.throttled} of {change.periods or 0} periods"
        yield Strain("throttled", f"{said} (bar: {THROTTLED:.0%})")
    if change.refused:
        yield Strain("processes", f"{counted(change.refused, 'fork')} refused{where} at the limit of processes")
    elif change.processes and change.processes_max and change.processes >= PIDS_NEARLY_FULL * change.processes_max:
        yield Strain("processes", f"{change.processes} of {change.processes_max} processes{where} are there")
    if change.oom_kills:
        yield Strain("killed", f"{_processes(change.oom_kills)} killed for memory{where}")


def _processes(count: int) -> str:
    return f"{count:,} process{'es' * (count != 1)}"


_KINDS = ("load", "PSI", "CPU quota", "process limit", "memory kills")


def _uncounted(seen: Seen) -> Iterable[str]:
    groups = [change for change in seen.changes if change.place != MACHINE]
    waits = [share for change in seen.changes for share in change.waited.values()]
    told = (
        seen.load is not None,
        any(share is not None for share in waits),
        any(change.throttled is not None for change in groups),
        any(change.processes is not None for change in groups),
        any(change.oom_kills is not None for change in groups),
    )
    yield from (kind for kind, is_told in zip(_KINDS, told, strict=True) if not is_told)
    if not seen.readable:
        yield "processes"
