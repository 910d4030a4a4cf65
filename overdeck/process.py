"""The one function that runs a program to its end: an argv, an explicit environment, a deadline, the group killed."""

import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

DOORS = {"overdeck": "overdeck", "hookbench": "hookbench", "od-incidents": "od_incidents"}
"""Our commands, and the function of ``overdeck.cli.doors`` behind each."""

_LAST_WORDS_S = 1.0
"""How long a killed group's pipes may take to close; what left the group may hold them for ever."""

_NOTICE_S = 0.1
"""How soon ``stopped`` is noticed."""


class Completed(NamedTuple):
    """A program that ended by itself. ``code`` is negative where a signal ended it."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def output(self) -> str:
        """Standard output, then standard error, as text."""
        return (self.stdout + self.stderr).decode("utf-8", "replace")


class NotCompleted(NamedTuple):
    """A program that did not start (``started`` False), or not end in time; ``why`` follows its name in a sentence."""

    started: bool
    why: str


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | str,
    stdin: bytes = b"",
    deadline_s: float,
    drain_s: float | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Completed | NotCompleted:
    """Run ``argv`` in a session of its own and wait until it has ended and closed its output, ``deadline_s`` at most,
    and no longer than until ``stopped`` says so.

    ``drain_s``: how long what it left running may hold its output open once it has ended; None is until the deadline.
    ``env`` is the whole environment; its PATH is where ``argv[0]`` is looked for. Past the deadline, and when we
    are interrupted, the process group is killed.
    """
    try:
        child = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return NotCompleted(False, f"does not start: {error.filename or argv[0]}: {error.strerror}")
    with child:
        try:
            stdout, stderr = _output(child, stdin, deadline_s, drain_s, stopped)
        except subprocess.TimeoutExpired:
            _kill(child)
            return NotCompleted(True, f"does not end within {deadline_s:g} s")
        except BaseException:
            _kill(child)
            raise
    return Completed(tuple(argv), child.returncode, stdout, stderr)


def _output(
    child: subprocess.Popen[bytes],
    stdin: bytes,
    deadline_s: float,
    drain_s: float | None,
    stopped: Callable[[], bool] | None,
) -> tuple[bytes, bytes]:
    """What ``child`` printed; raises TimeoutExpired past the deadline, or once it was called off."""
    if stopped is None and drain_s is None:
        return child.communicate(stdin, timeout=deadline_s)
    give_up = time.monotonic() + deadline_s
    drained: float | None = None
    unsaid: bytes | None = stdin
    while True:
        now = time.monotonic()
        if drained is None and drain_s is not None and child.poll() is not None:
            drained = min(give_up, now + drain_s)
        left = (give_up if drained is None else drained) - now
        try:
            return child.communicate(unsaid, timeout=max(0.0, min(_NOTICE_S, left)))
        except subprocess.TimeoutExpired as error:
            unsaid = None  # it may be said once only
            if left <= 0 and drained is not None:
                return error.output or b"", error.stderr or b""
            if left <= 0 or (stopped is not None and stopped()):
                raise


def _kill(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        child.communicate(timeout=_LAST_WORDS_S)


def script(command: str) -> Path:
    """Where an installed command of ours is, or would be."""
    return Path(sysconfig.get_path("scripts"), command)


def argv_of(command: str) -> list[str]:
    """How to start one of ``DOORS``: the installed script, in a source tree its entry point; others as they are.

    >>> argv_of("git")
    ['git']
    """
    if command not in DOORS:
        return [command]
    if script(command).exists():
        return [str(script(command))]
    return [sys.executable, "-c", f"from overdeck.cli.doors import {DOORS[command]} as door; door()"]
