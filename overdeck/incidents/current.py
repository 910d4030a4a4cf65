"""The registry as it stands: its log read and folded, with everything odd about it told once."""

from collections.abc import Callable
from typing import NamedTuple

from overdeck.incidents import log
from overdeck.incidents.fold import State, fold
from overdeck.incidents.registry import Registry

Warn = Callable[[str], None]
"""Takes one line for the reader: a command passes ``Output.warn``, so that it is told on errors as well."""


class Current(NamedTuple):
    """What the log says, and what it amounts to."""

    history: log.History
    state: State


def read(registry: Registry, warn: Warn) -> Current:
    """Read the log of ``registry``; damaged lines, unknown settings and orphaned events go to ``warn``."""
    history = log.read(registry.log)
    state = fold(history.events)
    for warning in (*registry.warnings, *log.describe(history.damages), *state.warnings):
        warn(warning)
    return Current(history, state)
