"""The parent's side of the spawner: hand it commands and a payload, get back what one run cost."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from overdeck.errors import InvalidMeasurement
from overdeck.spawn import spawner

_GRACE_S = 15.0
"""How far past a run's own deadline the spawner may take to kill, reap and answer."""
_PIECE = 1 << 16


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

    @property
    def cpu_us(self) -> int:
        return self.user_us + self.system_us


class Spawner:
    """A running spawner; use it as a context manager, so that it and what it runs end with the block."""

    program = spawner.__file__

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", self.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin"},
            bufsize=0,
            start_new_session=True,  # an interrupt reaches us, and we close its stdin
        )

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
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            raise self._lost() from None
        return self._understand(self._answer(timeout_s + _GRACE_S))

    def _understand(self, answer: Any) -> Run:
        lists = {key: tuple(value) for key, value in answer.items() if isinstance(value, list)}
        return Run(**answer | lists)

    def _answer(self, deadline_s: float) -> Any:
        assert self._process.stdout is not None
        answers = self._process.stdout.fileno()
        line = b""
        while not line.endswith(b"\n"):
            # Not readline: of an unbuffered file that is a system call a byte, 0.15 ms a run.
            ready, _, _ = select.select([answers], [], [], deadline_s)
            piece = os.read(answers, _PIECE) if ready else b""
            if not piece:
                raise self._lost()
            line += piece
        return json.loads(line)

    def _lost(self) -> InvalidMeasurement:
        return InvalidMeasurement(
            "the process that starts the arms ended, or stopped answering, in the middle of a run",
            code="spawner-lost",
            hint="look above for what it printed; run the command again",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()  # it kills what still runs, and ends
        try:
            self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
