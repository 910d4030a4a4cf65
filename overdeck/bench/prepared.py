"""An arm ready to run: its executables found, its environment built up, in a folder of its own."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from overdeck.bench.arm import Arm, resolve
from overdeck.errors import InvalidMeasurement
from overdeck.process import Completed, run
from overdeck.spawn.launch import Run, Spawner, Task

PADDING_LIMIT = 4096
"""The environment's size moves the stack; up to a page of padding, drawn for all that is compared at once."""
_MOST_SHORTER = 1 << 16
"""What a longer command line of another arm may add to it: a single variable may not exceed 128 KiB."""
_LAST_WORDS = 400


class Prepared:
    """``arm`` with a throwaway HOME and TMPDIR under ``folder``; ``extra`` is added to its environment.

    Raises InvalidMeasurement where an executable of the arm does not exist.
    """

    def __init__(self, arm: Arm, folder: Path, extra: Mapping[str, str]) -> None:
        self.arm = arm
        self._environ = _environment(arm, folder, extra)
        self._commands = resolve(arm, self._environ["PATH"])

    def run(
        self, spawner: Spawner, *, payload: Path, timeout_s: float, drawn: Mapping[str, str] | None = None
    ) -> Run:
        """Run it once; ``drawn`` is what this run's environment has beside the arm's. Nothing is checked."""
        return spawner.run(
            self._commands,
            environ={**self._environ, **(drawn or {})},
            cwd=self.arm.cwd,
            payload=payload,
            timeout_s=timeout_s,
        )

    def task(self, payload: Path, timeout_s: float) -> Task:
        """A run of it, for a batch."""
        return Task(self._commands, self._environ, self.arm.cwd, payload, timeout_s)

    def step(
        self, kind: str, words: Sequence[str], *, timeout_s: float, drawn: Mapping[str, str] | None = None
    ) -> None:
        """A command before or after a run (``kind``: prepare, cleanup), where and with what the arm runs.

        What it leaves running lives on: a server, for one, that the arm talks to. Raises InvalidMeasurement
        unless it exits 0 in time.
        """
        environ = {**self._environ, **(drawn or {})}
        ended = run(words, env=environ, cwd=self.arm.cwd, deadline_s=timeout_s)
        if not isinstance(ended, Completed):
            why = ended.why
        elif ended.code == 0:
            return
        else:
            why = f"exited {ended.code}: {ended.output[-_LAST_WORDS:].strip()}".removesuffix(": ")
        raise InvalidMeasurement(
            f"--{kind} failed for arm {self.arm.name}: {shlex.join(words)} {why}",
            code=f"{kind}-failed",
            hint=f"it runs without a shell in {self.arm.cwd}; try it there by hand",
        )

    @property
    def stack_bytes(self) -> int:
        """What the longest of the commands finds at the top of its stack: arguments and environment."""
        environ = sum(_bytes(key) + _bytes(value) for key, value in self._environ.items())
        return environ + max(sum(map(_bytes, command.argv)) for command in self._commands)


def drawn_environ(hash_seed: int, padding: int) -> dict[str, str]:
    """What is drawn for a run, as its environment: the order of Python's sets, and where the stack begins."""
    return {"PYTHONHASHSEED": str(hash_seed), "HOOKBENCH_PADDING": "x" * padding}


def shorter_by(several: Sequence[Prepared]) -> list[int]:
    """The padding that each needs beyond the largest of them, so that all stacks begin at the same place."""
    largest = max((prepared.stack_bytes for prepared in several), default=0)
    return [min(largest - prepared.stack_bytes, _MOST_SHORTER) for prepared in several]


def _bytes(word: str) -> int:
    return len(os.fsencode(word)) + 1


def _environment(arm: Arm, folder: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """The arm's environment, built up from nothing: a caller's keys and settings stay out."""
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    home = arm.home or folder / "home"
    home.mkdir(exist_ok=True)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        **arm.environ,
        **extra,
    }
