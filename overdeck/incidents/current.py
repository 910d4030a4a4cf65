"""The registry as it stands: its log read and folded, with everything odd about it told once."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from overdeck.incidents import log
from overdeck.incidents.fold import State, fold
from overdeck.incidents.registry import Registry

DIRECT_BYTES = 128 * 1024
"""A log up to this size is read in the time that SQLite takes to be loaded."""

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


class Kept:
    """The registry as it was read last, read again only when somebody has written: for those who ask it often.

    May be asked by several threads; one reads while the others wait for what it finds.
    """

    def __init__(self) -> None:
        self._turn = Lock()
        self._stamp: object = None
        self._read: tuple[State, tuple[str, ...]] = (State((), ()), ())

    def read(self, registry: Registry) -> tuple[State, tuple[str, ...]]:
        """Every incident of ``registry``, with its events, and what ``read`` warns of."""
        with self._turn:
            stamp = (registry, log.stamp(registry.log))
            if self._stamp != stamp:
                warnings: list[str] = []
                self._read = (read(registry, warnings.append).state, tuple(warnings))
                self._stamp = stamp
            return self._read

    def state(self, registry: Registry) -> State:
        """Every incident of ``registry``, with its events."""
        return self.read(registry)[0]


def overview(registry: Registry, warn: Warn, cache: Path) -> State:
    """Every incident of ``registry`` without its events: what ``read`` says, for those who only look.

    A long log is folded once and kept below the folder ``cache``, until a byte of it changes.
    """
    if log.size(registry.log) <= DIRECT_BYTES:
        state = read(registry, warn).state
        return State(tuple(incident._replace(events=()) for incident in state.incidents), state.warnings)
    from overdeck.incidents import modelfile

    state = modelfile.folded(registry, cache)
    for warning in (*registry.warnings, *state.warnings):
        warn(warning)
    return state
