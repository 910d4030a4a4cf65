"""What handlers cost for real: each event's handlers started together, as the client would, and waited for.

This runs the user's own hooks. So: a throwaway HOME and working directory, an environment with nothing of
the user's but PATH and the settings file's own ``env``, no network unless it was asked for, and our own entry with its
logs apart (``apart``).
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from overdeck.errors import ExitCode, OverdeckError
from overdeck.wiring import offline
from overdeck.wiring.apart import with_logs_apart
from overdeck.wiring.commandline import started
from overdeck.wiring.job import Failure, Job, Measured, runnable
from overdeck.wiring.payloads import payload_for
from overdeck.wiring.settings import Handler, Settings
from overdeck.wiring.surroundings import CLIENT_ENV, copy_hooks, settings_env

RUNS = 3
"""Counted runs of each event, after one that warms the caches; the median is reported."""

RUN_LIMIT_S = 30.0
"""No run lasts longer, whatever timeout the handlers have."""

SESSION = "overdeck-audit"
"""The session of what is run here: no agent's, and not counted as one's where a hook of ours is among the measured."""


def measure(
    jobs: Sequence[Job],
    files: Sequence[Settings],
    *,
    environ: Mapping[str, str],
    payload: dict[str, Any] | None = None,
    allow_network: bool = False,
) -> dict[tuple[str, str], Measured]:
    """Run every job ``RUNS`` times and one more; the result is by (event, subject).

    ``payload`` stands in for the generated one in the job that it names itself. Raises OverdeckError where
    the network cannot be taken away and was not allowed.
    """
    if not allow_network and not offline.can_isolate():
        raise OverdeckError(
            "this machine gives us no network namespace, so the hooks would have the network",
            code="no-isolation",
            exit_code=ExitCode.USAGE,
            hint="overdeck audit --measure --yes --allow-network, if you trust these hooks with it",
        )
    try:
        rows = offline.run_in_child(
            lambda: list(_measure_all(jobs, files, environ, payload)), offline=not allow_network
        )
    except offline.ChildFailed as error:
        raise OverdeckError(
            f"the hooks could not be measured: {error}",
            code="not-measured",
            exit_code=ExitCode.REJECTED,
            hint="overdeck audit, without --measure, uses a model",
        ) from None
    return {
        (event, subject): Measured(wall, cpu, runs, tuple(Failure(*failure) for failure in failures))
        for event, subject, wall, cpu, runs, failures in rows
    }


def _measure_all(
    jobs: Sequence[Job], files: Sequence[Settings], environ: Mapping[str, str], payload: dict[str, Any] | None
) -> Iterator[list[Any]]:
    from overdeck.spawn.launch import Command, Spawner

    # Two mkdtemp in one: HOME and the project are siblings, as a hook that walks up would expect.
    with tempfile.TemporaryDirectory(prefix="overdeck-measure-") as folder, Spawner() as spawner:
        room = Room.make(Path(folder), files, environ)
        for job in jobs:
            commands, failures = room.commands(runnable(job))
            runs = []
            if commands:
                file = room.payload(job, payload)
                limit = min(RUN_LIMIT_S, max(handler.longest_s for handler, _ in commands) or RUN_LIMIT_S)
                for _ in range(RUNS + 1):
                    run = spawner.run(
                        [Command(argv[0], argv) for _, argv in commands],
                        environ=room.environ,
                        cwd=room.project,
                        payload=file,
                        timeout_s=limit,
                    )
                    runs.append(run)
                    if run.timed_out or run.failed:
                        break
                failures += _failed(commands, runs[-1], room.environ["PATH"])
            counted = runs[1:] or runs
            yield [
                job.event,
                job.subject,
                round(median(run.wall_ns for run in counted) / 1e6, 1) if counted else 0.0,
                round(median(run.cpu_us for run in counted) / 1e3, 1) if counted else 0.0,
                len(counted),
                failures,
            ]


def _failed(commands: Sequence[tuple[Handler, list[str]]], run: Any, path: str) -> list[Failure]:
    """The handlers of one run that did not get as far as doing their work."""
    found = []
    for (handler, _), code in zip(commands, run.exits, strict=True):
        why = {127: "exit 127: not found", 126: "exit 126: not executable"}.get(code)
        if run.timed_out and code is None:
            why = "did not end in time and was killed"
        elif run.failed:
            why = run.failed
        if why:
            missing = _missing(handler, path) if code in (126, 127) else ""
            found.append(Failure(handler.pointer, handler.command, why, missing))
    return found


def _missing(handler: Handler, path: str) -> str:
    """The first program of a shell line that is not there; the line's first program where all seem to be."""
    names = [argv[0] for argv in started(handler).programs]
    return next((name for name in names if shutil.which(name, path=path) is None), (names or [handler.command])[0])


@dataclass(frozen=True)
class Room:
    """The throwaway place hooks run in."""

    project: Path
    home: Path
    environ: dict[str, str]

    @classmethod
    def make(cls, folder: Path, files: Sequence[Settings], environ: Mapping[str, str]) -> "Room":
        """Lay it out under ``folder``: project, HOME with a copy of the settings' hooks folders, TMPDIR."""
        project, home, temporary = folder / "project", folder / "home", folder / "tmp"
        for path in (project, home / ".claude", temporary):
            path.mkdir(parents=True)
        (project / "a.txt").write_text("one\ntwo\n")
        (home / "transcript.jsonl").touch()
        for file in files:
            copy_hooks(file.path.absolute().parent / "hooks", home / ".claude" / "hooks")
        env = {
            "PATH": environ.get("PATH", os.defpath),
            "HOME": str(home),
            "TMPDIR": str(temporary),
            "LANG": environ.get("LANG", "C.UTF-8"),
            **CLIENT_ENV,
        }
        env.update(settings_env(files))
        if files:
            env.update(files[0].variables)
        return cls(project, home, env)

    def payload(self, job: Job, given: dict[str, Any] | None) -> Path:
        """Write the payload of one job and return its file."""
        content = payload_for(
            job.event, job.subject, cwd=str(self.project), transcript=str(self.home / "transcript.jsonl")
        ) | {"session_id": SESSION}
        subject = (given or {}).get("tool_name", (given or {}).get("source", job.subject))
        if given and given.get("hook_event_name") == job.event and subject == job.subject:
            content = given
        file = self.home.parent / f"{job.event}.{re.sub(r'[^A-Za-z0-9_]', '_', job.subject)}.json"
        file.write_text(json.dumps(content, ensure_ascii=False) + "\n")
        return file

    def commands(self, handlers: Iterable[Handler]) -> tuple[list[tuple[Handler, list[str]]], list[Failure]]:
        """The argv of each handler with an absolute program, and those whose program is not there."""
        found: list[tuple[Handler, list[str]]] = []
        failures: list[Failure] = []
        for handler in handlers:
            own = Settings(handler.file, {}, (), (), Path(handler.plugin) if handler.plugin else None).variables
            argv = with_logs_apart(handler.argv(own), self.home)
            program = argv[0] if "/" in argv[0] else shutil.which(argv[0], path=self.environ["PATH"])
            if program is None or not os.access(program, os.X_OK):
                failures.append(Failure(handler.pointer, handler.command, "its program is not there", argv[0]))
                continue
            argv = [str(self.project / program) if not program.startswith("/") else program, *argv[1:]]
            extra = [f"{name}={value}" for name, value in own.items() if self.environ.get(name) != value]
            found.append((handler, ["/usr/bin/env", *extra, *argv] if extra else argv))
        return found, failures
