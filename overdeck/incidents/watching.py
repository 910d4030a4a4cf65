"""Somebody waits for a proof: they are told what is being done, hear what runs print, and may call it off."""

from collections.abc import Callable
from dataclasses import dataclass

from overdeck.errors import ExitCode, OverdeckError

NOTICE_S = 0.1
"""How soon it is noticed that a proof was called off, while git or a run is at work."""


class Cancelled(OverdeckError):
    """Who waited for a proof called it off before anything was written."""


def _deaf(_: object) -> None:
    return None


def _patient() -> bool:
    return False


@dataclass(frozen=True)
class Watch:
    """What the verifier calls, from the thread it works in."""

    tell: Callable[[str], None] = _deaf
    """Takes one line for each thing that is begun or done."""
    hear: Callable[[bytes], None] = _deaf
    """Takes what a run prints, as it comes; nothing is assumed of it."""
    stopped: Callable[[], bool] = _patient
    """True once nobody wants the proof any more."""

    def check(self) -> None:
        """Raises Cancelled (130) once the proof was called off."""
        if self.stopped():
            raise Cancelled(
                "it was cancelled: what ran was ended, and nothing was written",
                code="cancelled",
                exit_code=ExitCode.INTERRUPTED,
                hint="the same again, when you have the time",
            )


NOBODY = Watch()
"""The watch of a caller that waits for the end, whatever it takes."""
