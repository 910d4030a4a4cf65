"""An entry of ours, run for a measurement: with the user's plans, and what it writes below a throwaway HOME.

A measured call asks real modules and would else stand in the user's logs as an agent's. The environment cannot say so:
the hot path takes every path from its plan (INTERFACES.md). So the plans are copied, with other paths for what is
written.
"""

import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from overdeck.dispatch.plan import HEADER, PlanError, unsealed
from overdeck.dispatch.planning import RECIPE, Recipe
from overdeck.dispatch.writing import sealed
from overdeck.files import write_atomically
from overdeck.paths import Places
from overdeck.wiring.marker import MARKER

_OPTION = "--plan"


def with_logs_apart(argv: Sequence[str], home: Path) -> list[str]:
    """``argv`` as it is; where it starts an entry of ours, with ``--plan`` naming a copy of its plans below ``home``.

    The copies differ from the plans in the paths of logs, state and journals only. What is no whole plan of this
    version is copied as it stands: the front that can read it goes by what it says.
    """
    words = list(argv)
    for at, word in enumerate(words):
        if MARKER in word.split() and word != MARKER:  # a shell line
            plans = _plans_of(_words(word))
            if plans and plans in word:
                words[at] = word.replace(plans, str(_copied(Path(plans), home)))
            return words
    plans = _plans_of(words)
    if plans:
        words[words.index(_OPTION) + 1] = str(_copied(Path(plans), home))
    return words


def _plans_of(words: Sequence[str]) -> str:
    """The folder of plans that an entry of ours names; empty where it is none, or names none by its whole path."""
    if MARKER not in words or _OPTION not in words[:-1]:
        return ""
    plans = words[words.index(_OPTION) + 1]
    return plans if plans.startswith("/") else ""


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _copied(plans: Path, home: Path) -> Path:
    """The copy below ``home`` of a folder of plans; the folder itself where it lies there already."""
    if plans.is_relative_to(home):
        return plans
    own = Places.from_environment({"HOME": str(home)})
    there = own.plans(plans.name)
    written = {
        "plans": str(there),
        "state": str(own.state),
        "fires": str(own.fires_log),
        "calls": str(own.calls_log),
    }
    for folder in (own.state / "errors", *([there] if plans.is_dir() else [])):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for file in plans.glob("*.plan"):
        with suppress(PermissionError):  # the front cannot read it either
            write_atomically(there / file.name, _plan(file.read_bytes(), written))
    # A plan that is stale by now is made anew from the recipe beside it, at the first call.
    with suppress(PlanError):
        recipe = Recipe.load(str(plans))
        fields = {key: getattr(recipe, key) for key in Recipe.__slots__} | written
        write_atomically(there / RECIPE, Recipe(**fields).encode())
    return there


def _plan(raw: bytes, written: dict[str, str]) -> bytes:
    """A plan with other paths for what is written, sealed anew; as it is where it is not whole."""
    try:
        lines, _crc, details = unsealed(raw, HEADER)
    except (PlanError, ValueError):
        return raw
    moved = []
    for line in lines:
        key, _, rest = line.partition(" ")
        if key in written:
            moved.append(f"{key} {written[key]}")
        elif key == "native":
            id, fields, size, path = rest.split(" ", 3)
            journal = Path(written["state"], "modules", id, Path(path).name)
            journal.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            moved.append(f"native {id} {fields} {size} {journal}")
        else:
            moved.append(line)
    return sealed(HEADER, moved) + details
