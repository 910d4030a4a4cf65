"""One look at hooks at work. Each look is measured against the one before: what it returns beside itself."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from overdeck.machine.changes import Change, changes
from overdeck.machine.hookprocesses import HookProcess, Known, hook_processes, remembered
from overdeck.machine.load import Load, load
from overdeck.machine.processes import Process, table
from overdeck.machine.reading import Reading, Roots, read, steal, unsaid
from overdeck.machine.strain import Seen, Verdict, judge
from overdeck.machine.wiredcommands import WiredCommands, wired_commands
from overdeck.paths import Places
from overdeck.telemetry.livecalls import Followed, LiveCalls, follow
from overdeck.wiring.sources import all_files, silenced

SHORTEST_S = 0.25
"""Two periods of a CPU quota; in less, one tick of a counter is a share of some percent."""

Table = Callable[[Callable[[Sequence[str]], str]], Sequence[Process]]
"""``processes.table``, or a test's own."""


@dataclass(frozen=True)
class Source:
    """Where a look looks: a user's places and project, the kernel's files, the clocks."""

    places: Places
    project: Path
    roots: Roots = field(default_factory=Roots)
    read_table: Table = table
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.monotonic
    read_load: Callable[[], Load | None] = load


@dataclass(frozen=True)
class Before:
    """What one look leaves to the next."""

    at_s: float
    """Of the monotonic clock."""
    reading: Reading
    commands: WiredCommands
    problems: tuple[str, ...]
    """Settings that could not be read: their hooks are not known."""
    known: Mapping[int, Known]
    followed: Followed | None


@dataclass(frozen=True)
class Look:
    """Hooks at work at ``at``; rates and shares are of the ``seconds`` since the look before."""

    at: datetime
    seconds: float
    changes: tuple[Change, ...]
    unsaid: tuple[str, ...]
    """What this system does not count, in sentences."""
    load: Load | None
    steal: float | None
    hooks: tuple[HookProcess, ...]
    """The oldest first, orphans among them."""
    clients: int
    """Processes of coding agents that are alive."""
    readable: bool
    """Whether the process table could be read at all."""
    calls: LiveCalls
    problems: tuple[str, ...]
    """What could not be read, and why."""

    @property
    def watched(self) -> bool:
        """Whether enough time passed for shares of it to mean anything."""
        return self.seconds >= SHORTEST_S

    @property
    def orphans(self) -> tuple[HookProcess, ...]:
        return tuple(hook for hook in self.hooks if hook.orphan)

    @property
    def verdict(self) -> Verdict:
        """Whether the machine is strained, and by what."""
        return judge(
            Seen(
                self.seconds,
                self.watched,
                self.changes,
                self.load,
                self.steal,
                self.clients,
                len(self.orphans),
                self.calls.ms_per_s,
                self.readable,
            )
        )


def begin(source: Source, before: Before | None = None) -> Before:
    """The state before the first look; with ``before``, what that says, with the settings read anew.

    Reads the settings of every client, to know hooks by their command lines.
    """
    files = all_files(source.places, source.project)
    silent = silenced(files)
    commands = [
        (handler.command, handler.args)
        for file in files
        if file.path not in silent
        for handler in file.all_handlers
        if handler.starts_process and not handler.dropped and handler.command
    ]
    problems = [f"{file.path}: {problem.reason}" for file in files for problem in file.problems if problem.drops]
    if before is not None:
        return replace(before, commands=wired_commands(commands), problems=tuple(problems))
    return _seen(source, Before(0.0, Reading(), wired_commands(commands), tuple(problems), {}, None)).before


def look(source: Source, before: Before) -> tuple[Look, Before]:
    """What happened since ``before``, and what the next look is to be given. Never raises for what it reads."""
    after, processes, hooks = _seen(source, before)
    seconds = max(after.at_s - before.at_s, 0.001)
    now = source.now()
    calls, followed = follow(source.places, now, before.followed)
    found = Look(
        at=now,
        seconds=seconds,
        changes=tuple(changes(before.reading, after.reading, seconds, source.roots)),
        unsaid=tuple(unsaid(source.roots, after.reading)),
        load=source.read_load(),
        steal=steal(before.reading, after.reading),
        hooks=tuple(hooks),
        clients=sum(process.client and not process.zombie for process in processes),
        readable=bool(processes),
        calls=calls,
        problems=(*before.problems, *calls.problems),
    )
    return found, replace(after, followed=followed)


class _Seen(NamedTuple):
    before: Before
    processes: Sequence[Process]
    hooks: list[HookProcess]


def _seen(source: Source, before: Before) -> _Seen:
    processes = source.read_table(before.commands.hook_of)
    pids = (None, *(process.pid for process in processes if process.client))
    hooks = hook_processes(processes, before.known)
    after = replace(
        before,
        at_s=source.monotonic(),
        reading=read(source.roots, pids),
        known=remembered(hooks, before.known),
    )
    return _Seen(after, processes, hooks)
