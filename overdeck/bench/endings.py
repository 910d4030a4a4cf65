"""How the handlers of an arm ended where the client would have had a hand in it: what a reader should know of it."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from overdeck.bench.arm import Arm
from overdeck.spawn.launch import Run

if TYPE_CHECKING:  # a recording holds counted starts, which ask here
    from overdeck.bench.recording import PlannedArm


def hand_of_the_client(arm: "Arm | PlannedArm", runs: Sequence[Run]) -> list[str]:
    """One sentence for each kind: timeouts, background commands cut off, conditions nobody checked."""
    said = []
    expired = Counter(index for run in runs for index in run.expired)
    for index, count in sorted(expired.items()):
        limit = arm.waits[index].timeout_s if arm.waits else None
        said.append(
            f"arm {arm.name}: {_shown(arm, index)} was killed at its own timeout of {limit:g} s in {count} of "
            f"{len(runs)} runs, as the client would, which throws its answer away"
        )
    cut = Counter(index for run in runs for index in run.cut)
    for index, count in sorted(cut.items()):
        said.append(
            f"arm {arm.name}: {_shown(arm, index)}, which the client does not wait for, was still running after "
            f"{count} of {len(runs)} runs and was killed: its CPU time is not whole"
        )
    if arm.conditional:
        said.append(f'arm {arm.name}: {arm.conditional} of its handlers have an "if", which was taken to hold')
    return said


def hand_of_the_hook(arm: "Arm | PlannedArm", runs: Sequence[Run]) -> list[str]:
    """One sentence for each command that sent itself to the background: no file says so beforehand."""
    asked = Counter(index for run in runs for index in run.asked)
    return [
        f'arm {arm.name}: {_shown(arm, index)} printed {{"async":true}} in {count} of {len(runs)} runs: the client '
        "does not wait for it, so the wall time ends there; its CPU time counts, what it prints is not compared"
        for index, count in sorted(asked.items())
    ]


def _shown(arm: "Arm | PlannedArm", index: int) -> str:
    argv = arm.commands[index]
    return repr(argv[2] if argv[:2] == ("/bin/sh", "-c") and len(argv) == 3 else " ".join(argv))
