"""The parent's side of the spawner: hand it commands and a payload, get back what one run cost."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from overdeck.machine.load import Worded, worded
from overdeck.spawn import spawner
from overdeck.spawn.connection import Connection

GRACE_S = 15.0
"""How far past a run's own deadline the spawner may take to kill, reap and answer."""


class Command(NamedTuple):
    """One command of a run: an executable's path, its argv, and how a client waits for it."""

    executable: str
    argv: Sequence[str]
    timeout_s: float | None = None
    """After which it gets SIGTERM, and SIGKILL 1.5 s later, with its tree; None: the run's own timeout alone."""
    background: bool = False
    """Started with the others and not waited for; it may run on for 5 s off the clock."""


class Run(NamedTuple):
    """What one run of an arm cost, summed over its commands and their waited-for or orphaned descendants."""

    wall_ns: int
    user_us: int
    system_us: int
    rss_kb: int
    voluntary: int
    involuntary: int
    minor_faults: int
    major_faults: int
    exits: tuple[int | None, ...]
    """Exit code per command; negative = killed by that signal; None = never seen to exit."""
    stdout_hash: str
    stdout_bytes: int
    stdout_head: str
    stderr_head: str
    orphans: int
    killed: int
    """Orphans that outlived their 250 ms and were killed."""
    floor_kb: int
    """The spawner's size at the end of the run: an ``rss_kb`` that is not above it says nothing."""
    timed_out: bool
    failed: str
    """Why a command could not be started at all; empty when all were."""
    expired: tuple[int, ...] = ()
    """Indices of the commands that were killed at their own timeout: what they printed does not count."""
    cut: tuple[int, ...] = ()
    """Indices of the background commands that still ran 5 s after the run: killed, their exit is None."""
    asked: tuple[int, ...] = ()
    """Indices of the commands that were put in the background because they printed that they want it."""

    @property
    def cpu_us(self) -> int:
        return self.user_us + self.system_us


class Task(NamedTuple):
    """What a run is a run of: the arguments of ``Spawner.run``."""

    commands: Sequence[Command]
    environ: Mapping[str, str]
    cwd: Path
    payload: Path
    timeout_s: float


class Drawn(NamedTuple):
    """One run of a batch: which of its tasks, and what its environment has beside the task's."""

    task: int
    environ: Mapping[str, str]


class Made(NamedTuple):
    """One run of a batch, and the machine before and after it, as it was a tenth of a second ago at most."""

    run: Run
    before: Worded
    after: Worded


_UNSEEN = Worded(0, "", "", "")


class Spawner:
    """A running spawner; use it as a context manager, so that it and what it runs end with the block."""

    program = spawner.__file__

    def __init__(self) -> None:
        self._connection = Connection([sys.executable, "-I", "-S", self.program])

    @property
    def pid(self) -> int:
        return self._connection.pid

    def run(
        self,
        commands: Sequence[Command],
        *,
        environ: Mapping[str, str],
        cwd: Path,
        payload: Path,
        timeout_s: float,
    ) -> Run:
        """Start all ``commands`` in parallel and wait as a client would; ``timeout_s`` bounds the whole run."""
        request = {
            "commands": [[command.executable, *command.argv] for command in commands],
            "limits_ns": [
                None if command.timeout_s is None else round(command.timeout_s * 1e9) for command in commands
            ],
            "background": [command.background for command in commands],
            "environ": dict(environ),
            "cwd": str(cwd),
            "payload": str(payload),
            "timeout_ns": round(timeout_s * 1e9),
        }
        self._connection.send(json.dumps(request).encode() + b"\n")
        return self._understand(json.loads(self._connection.line(timeout_s + GRACE_S)))

    def batch(self, tasks: Sequence[Task], runs: Sequence[Drawn], *, machine: bool = False) -> Iterator[Made]:
        """``runs`` one after the other; all draw the same variables.

        None is made after one that failed or ran out of time. With ``machine`` that is looked at around each.
        """
        for which, environ in runs:
            task = tasks[which]
            before = worded() if machine else _UNSEEN
            run = self.run(
                task.commands,
                environ={**task.environ, **environ},
                cwd=task.cwd,
                payload=task.payload,
                timeout_s=task.timeout_s,
            )
            yield Made(run, before, worded() if machine else _UNSEEN)
            if run.failed or run.timed_out:
                return

    def _understand(self, answer: Any) -> Run:
        lists = {key: tuple(value) for key, value in answer.items() if isinstance(value, list)}
        return Run(**answer | lists)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
