"""`--self-check`: a copy of an arm, which no honest comparison may tell from it."""

import shutil
from dataclasses import replace
from pathlib import Path

from overdeck.bench.arm import Arm
from overdeck.bench.blocks import Conditions, run_once
from overdeck.bench.comparable import exit_codes
from overdeck.errors import InvalidMeasurement
from overdeck.spawn.launch import Run

CONTROL_NAME = "A'"
_MOST_BYTES = 64 << 20


def control_arm(arm: Arm, folder: Path, conditions: Conditions) -> Arm:
    """``arm`` again, with copies below ``folder`` of the files that its commands name.

    A copy's path is as long as the original's where ``folder`` is short enough (else the padding of the
    environment makes up for it). Where the copies do other work than the originals, because a program looks for
    its neighbours beside itself, the arm is repeated as it is.
    """
    plain = replace(arm, name=CONTROL_NAME)
    copies: dict[str, str] = {}
    commands = tuple(tuple(_copied(word, arm.cwd, folder, copies) for word in argv) for argv in arm.commands)
    if not copies:
        return plain
    copy = replace(plain, commands=commands)
    try:
        original, copied = (_once(each, conditions) for each in (arm, copy))
    except InvalidMeasurement:
        return plain
    alike = (exit_codes(original), original.stdout_hash) == (exit_codes(copied), copied.stdout_hash)
    return copy if alike else plain


def _once(arm: Arm, conditions: Conditions) -> Run:
    return run_once(arm, payload=conditions.payload, timeout_s=conditions.timeout_s, environ=conditions.environ)


def _copied(word: str, cwd: Path, folder: Path, copies: dict[str, str]) -> str:
    """The path of a copy where ``word`` names a file by its path, else ``word``."""
    file = cwd / word
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return word
    except (OSError, ValueError):  # too long for a path, or with a NUL: no file's name
        return word
    if word not in copies:
        room = len(word) - len(str(folder)) - len(file.name) - len("//")
        place = folder / (f"{len(copies)}".ljust(room, "_") if room > 0 else f"{len(copies)}")
        place.mkdir()
        shutil.copy2(file, place / file.name)
        copies[word] = str(place / file.name)
    return copies[word]
