"""One visit of the doctor: every check in order, with when it was and how long the machine was watched."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import recipe_for
from overdeck.dispatch.record import now
from overdeck.errors import usage
from overdeck.machine import guardlog
from overdeck.paths import Places
from overdeck.wiring.doctor import CHECKS
from overdeck.wiring.doctor.check import STEPS, Report, Situation, Step, run

SHORT_S = 0.2
"""The window of a visit that nobody gave one: two periods of a CPU quota."""
LONGEST_S = 3600.0

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


@dataclass(frozen=True)
class Visit:
    """What all checks said, in their order."""

    at: str
    """UTC, ISO-8601, when the visit began: two visits are told apart by it."""
    window_s: float
    reports: tuple[Report, ...]

    @property
    def failed(self) -> int:
        return sum(report.state == "fail" for report in self.reports)

    def of(self, step: Step) -> list[Report]:
        return [report for report in self.reports if report.step == step]

    @property
    def first(self) -> Step | None:
        """The first step with a finding: what comes after it may be innocent."""
        return next((step for step in STEPS if any(report.findings for report in self.of(step))), None)

    @property
    def facts(self) -> dict[str, Any]:
        """``doctor.data``."""
        return {
            "at": self.at,
            "window_s": self.window_s,
            "checks": [report.facts for report in self.reports],
            "failed": self.failed,
            "first": self.first,
        }


def visit(
    places: Places,
    environ: Mapping[str, str],
    *,
    window_s: float = SHORT_S,
    pids: tuple[int, ...] = (),
    guard_logs: tuple[Path, ...] = (),
    yes: bool = False,
) -> Visit:
    """Run every check. ``guard_logs`` are looked at besides the usual places; ``yes`` lets the user's own code run."""
    at = now()
    situation = Situation(
        places,
        recipe_for(places),
        environ,
        yes=yes,
        window_s=window_s,
        pids=pids,
        guard_logs=(*guard_logs, *guardlog.USUAL),
    )
    return Visit(at, window_s, tuple(run(CHECKS, situation)))


def window(text: str, *, hint: str = "overdeck doctor --watch 30s") -> float:
    """``30s``, ``500ms``, ``2m`` or a bare number of seconds, in seconds. Raises OverdeckError (usage, ``hint``)."""
    match = _DURATION.fullmatch(text.strip())
    seconds = float(match[1]) * _UNITS[match[2] or "s"] if match else 0.0
    if not 0 < seconds <= LONGEST_S:
        raise usage(f"--watch {text!r} is no length of time between 1ms and 60m", hint=hint)
    return seconds
