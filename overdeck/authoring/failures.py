"""The failures of modules that the hot path kept: errors/<module>.jsonl."""

import json
from pathlib import Path
from typing import NamedTuple

from overdeck.files import read_regular
from overdeck.paths import Places


class Failure(NamedTuple):
    """One failure. ``ts`` is UTC; ``trace`` holds frames and the end of what the module printed."""

    ts: str
    event: str
    module: str
    cause: str
    trace: str


def read_failures(places: Places, module_id: str = "") -> list[Failure]:
    """Failures in the order of time, of one module or of all; torn lines are passed over."""
    found = []
    for path in sorted(places.errors.glob("*.jsonl*")):
        if not module_id or path.name.split(".jsonl")[0] == module_id:
            found += _read(path)
    return sorted(found)


def _read(path: Path) -> list[Failure]:
    found = []
    try:
        text = read_regular(path).decode("utf-8", "replace")
    except OSError:  # rolled meanwhile, or no file
        return []
    for line in text.splitlines():
        try:
            raw = json.loads(line)
            found.append(Failure(*(str(raw[key]) for key in Failure._fields)))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return found
