"""What handlers cost for real: each event's handlers started together, as the client would, and then each alone.

This runs the user's own hooks. So: a throwaway HOME, a copy of the project and of the plugins, an environment with
nothing of the user's but PATH and the settings file's own ``env``, no network unless it was asked for, and our own
entry with its logs apart (``apart``).
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from overdeck.errors import ExitCode, OverdeckError
from overdeck.wiring import offline
from overdeck.wiring.audit.hooks import key
from overdeck.wiring.commandline import started
from overdeck.wiring.job import Alone, Failure, Job, Measured, Measurement, runnable
from overdeck.wiring.room import Room
from overdeck.wiring.settings import Handler, Settings

if TYPE_CHECKING:
    from overdeck.spawn.launch import Command, Run, Spawner
    from overdeck.spawn.tracer import Tracer

RUNS = 3
"""Counted runs of each event, after one that warms the caches, and of each hook alone; the median is reported."""

RUN_LIMIT_S = 30.0
"""No run lasts longer, whatever timeout the handlers have."""

SLOW_MS = 1000.0
"""A hook that takes longer is run alone once, not ``RUNS`` times."""


def measure(
    jobs: Sequence[Job],
    files: Sequence[Settings],
    *,
    project: Path,
    environ: Mapping[str, str],
    payload: dict[str, Any] | None = None,
    allow_network: bool = False,
) -> Measurement:
    """Run every job ``RUNS`` times and one more, then every handler alone, and once watched to count its processes.

    ``payload`` stands in for the generated one in the job that it names itself. ``project`` is copied. Raises
    OverdeckError where the network cannot be taken away and was not allowed.
    """
    if not allow_network and not offline.can_isolate():
        raise OverdeckError(
            "this machine gives us no network namespace, so the hooks would have the network",
            code="no-isolation",
            exit_code=ExitCode.USAGE,
            hint="overdeck audit --measure --yes --allow-network, if you trust these hooks with it",
        )
    try:
        found = offline.run_in_child(
            lambda: _measure_all(jobs, files, project, environ, payload), offline=not allow_network
        )
    except offline.ChildFailed as error:
        raise OverdeckError(
            f"the hooks could not be measured: {error}",
            code="not-measured",
            exit_code=ExitCode.REJECTED,
            hint="overdeck audit, without --measure, uses a model",
        ) from None
    results = {
        (client, event, subject): Measured(wall, cpu, runs, tuple(Failure(*failure) for failure in failures))
        for client, event, subject, wall, cpu, runs, failures in found["jobs"]
    }
    keys = {(str(h.file), h.pointer): key(h) for job in jobs for h in runnable(job)}
    alone = {keys[file, pointer]: Alone(*row) for file, pointer, *row in found["alone"]}
    return Measurement(results, alone, tuple(found["notes"]))


def _measure_all(
    jobs: Sequence[Job],
    files: Sequence[Settings],
    project: Path,
    environ: Mapping[str, str],
    payload: dict[str, Any] | None,
) -> dict[str, Any]:
    """JSON of it all: this runs in a child process."""
    from overdeck.spawn.launch import Spawner
    from overdeck.spawn.tracer import Tracer

    with ExitStack() as stack:
        # Everything is in one folder: HOME and the project are siblings, as a hook that walks up would expect.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="overdeck-measure-")))
        room = Room.make(folder, files, environ, project)
        bench = _Bench(room, stack.enter_context(Spawner()), stack.enter_context(Tracer()))
        together = [bench.together(job, payload) for job in jobs]
        return {
            "jobs": together,
            "alone": list(bench.each_alone(jobs, payload)),
            "notes": [*room.notes, *bench.notes],
        }


class _Bench:
    """The room, and what starts commands in it."""

    def __init__(self, room: Room, spawner: "Spawner", tracer: "Tracer") -> None:
        self.room = room
        self.spawner = spawner
        self.tracer: Tracer | None = tracer
        self.notes: list[str] = []
        self.gone: set[tuple[str, str]] = set()
        """Handlers that did not run with the others: they are not run alone."""

    def together(self, job: Job, payload: dict[str, Any] | None) -> list[Any]:
        """One job as the client runs it: its client, event, subject, wall ms, CPU ms, runs and failures."""
        commands, failures = self.room.commands(runnable(job))
        runs: list[Run] = []
        if commands:
            file = self.room.payload(job, payload)
            limit = _limit(handler for handler, _ in commands)
            for _ in range(RUNS + 1):
                run = self._run(self.spawner, [argv for _, argv in commands], file, limit)
                runs.append(run)
                if run.timed_out or run.failed:
                    break
            failures += _failed(commands, runs[-1], self.room.environ["PATH"])
        self.gone.update((failure.file, failure.pointer) for failure in failures if failure.missing)
        counted = runs[1:] or runs
        wall = round(median(run.wall_ns for run in counted) / 1e6, 1) if counted else 0.0
        cpu = round(median(run.cpu_us for run in counted) / 1e3, 1) if counted else 0.0
        return [job.client, job.event, job.subject, wall, cpu, len(counted), failures]

    def each_alone(self, jobs: Sequence[Job], payload: dict[str, Any] | None) -> Iterator[list[Any]]:
        """Every handler once, in the first job that starts it: file, pointer, and the fields of ``Alone``."""
        seen = set()
        for job in jobs:
            commands, _ = self.room.commands(runnable(job))
            for handler, argv in commands:
                if key(handler) in seen or (str(handler.file), handler.pointer) in self.gone:
                    continue
                seen.add(key(handler))
                yield [str(handler.file), handler.pointer, *self._alone(handler, argv, job, payload)]

    def _alone(self, handler: Handler, argv: list[str], job: Job, payload: dict[str, Any] | None) -> list[Any]:
        file, limit = self.room.payload(job, payload), _limit([handler])
        runs = []
        for _ in range(RUNS):
            runs.append(self._run(self.spawner, [argv], file, limit))
            if runs[-1].wall_ns / 1e6 > SLOW_MS:
                break
        return [
            round(median(run.wall_ns for run in runs) / 1e6, 1),
            round(median(run.cpu_us for run in runs) / 1e3, 1),
            len(runs),
            self._count(argv, file, limit),
            max(run.stdout_bytes for run in runs),
        ]

    def _count(self, argv: list[str], file: Path, limit: float) -> int | None:
        """The processes that one more run starts, itself included; None where the kernel lets nobody watch."""
        from overdeck.spawn.tracer import TraceRefused

        if self.tracer is None:
            return None
        try:
            self._run(self.tracer, [argv], file, limit)
        except TraceRefused as refused:
            self.tracer = None
            self.notes.append(f"process starts are read from the commands' text: ptrace is refused ({refused})")
            return None
        return len(self.tracer.trace.processes)

    def _run(self, spawner: "Spawner", argvs: Sequence[list[str]], payload: Path, limit: float) -> "Run":
        commands: list[Command] = [_command(argv) for argv in argvs]
        return spawner.run(
            commands, environ=self.room.environ, cwd=self.room.project, payload=payload, timeout_s=limit
        )


def _command(argv: list[str]) -> "Command":
    from overdeck.spawn.launch import Command

    return Command(argv[0], argv)


def _limit(handlers: "Iterator[Handler] | list[Handler]") -> float:
    return min(RUN_LIMIT_S, max(handler.longest_s for handler in handlers) or RUN_LIMIT_S)


def _failed(commands: Sequence[tuple[Handler, list[str]]], run: "Run", path: str) -> list[Failure]:
    """The handlers of one run that did not get as far as doing their work."""
    found = []
    for (handler, _), code in zip(commands, run.exits, strict=True):
        why = {127: "exit 127: not found", 126: "exit 126: not executable"}.get(code or 0)
        if run.timed_out and code is None:
            why = "did not end in time and was killed"
        elif run.failed:
            why = run.failed
        if why:
            missing = _missing(handler, path) if code in (126, 127) else ""
            found.append(Failure(str(handler.file), handler.pointer, handler.command, why, missing))
    return found


def _missing(handler: Handler, path: str) -> str:
    """The first program of a shell line that is not there; the line's first program where all seem to be."""
    names = [argv[0] for argv in started(handler).programs]
    return next((name for name in names if shutil.which(name, path=path) is None), (names or [handler.command])[0])
