"""An arm ready to run: its executables found, its environment built up, in a folder of its own."""

import os
from collections.abc import Mapping
from pathlib import Path

from overdeck.bench.arm import Arm, resolve
from overdeck.spawn.launch import Run, Spawner


class Prepared:
    """``arm`` with a throwaway HOME and TMPDIR under ``folder``; ``extra`` is added to its environment.

    Raises InvalidMeasurement where an executable of the arm does not exist.
    """

    def __init__(self, arm: Arm, folder: Path, extra: Mapping[str, str]) -> None:
        self.arm = arm
        self.environ = _environment(arm, folder, extra)
        self.commands = resolve(arm, self.environ["PATH"])

    def run(
        self, spawner: Spawner, *, payload: Path, timeout_s: float, drawn: Mapping[str, str] | None = None
    ) -> Run:
        """Run it once; ``drawn`` is what this run's environment has beside the arm's. Nothing is checked."""
        return spawner.run(
            self.commands,
            environ={**self.environ, **(drawn or {})},
            cwd=self.arm.cwd,
            payload=payload,
            timeout_s=timeout_s,
        )


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
