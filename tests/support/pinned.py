"""The pinned clients: skipped with a reason where one is not here, and a failure where they are required."""

import os

import pytest
from fetch import bin_folder

from overdeck.wiring import offline

REQUIRED = "OVERDECK_CLIENTS_REQUIRED"
"""Set by .ci/run: a client that is not here is then a failure, not a reason to skip."""


def found(name: str) -> str:
    """The program of a pinned client; skips, or fails where they are required."""
    program = bin_folder(name) / name
    why = ""
    if not program.exists():
        why = f"{name} is not in {program.parent}: python3 tests/clients/fetch.py {name}"
    elif not offline.can_isolate():
        why = "this machine gives us no network namespace"
    if why and os.environ.get(REQUIRED):
        pytest.fail(f"{REQUIRED} is set, and {why}")
    if why:
        pytest.skip(why)
    return str(program)
