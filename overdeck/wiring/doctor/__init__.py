"""``overdeck doctor``: ordered checks: the machine, then output, the launcher, the wiring, and the modules last.

A new check is a function, a ``Check``, and its place in a tuple.
"""

from overdeck.wiring.doctor.abroad import ABROAD
from overdeck.wiring.doctor.canary import CANARY
from overdeck.wiring.doctor.capture import CAPTURE
from overdeck.wiring.doctor.check import STEPS, Check, Finding, Report, Result, Situation, run
from overdeck.wiring.doctor.commands import COMMANDS
from overdeck.wiring.doctor.launcher import FLEET, LAUNCHER
from overdeck.wiring.doctor.machine import MACHINE
from overdeck.wiring.doctor.output import OUTPUT
from overdeck.wiring.doctor.probe import PROBE
from overdeck.wiring.doctor.version import VERSION
from overdeck.wiring.doctor.wired import WIRED

CHECKS: tuple[Check, ...] = (
    *MACHINE, *OUTPUT, *LAUNCHER, *VERSION, *COMMANDS, *WIRED, *ABROAD, *FLEET, *CANARY, *PROBE, *CAPTURE,
)  # fmt: skip

__all__ = ["CHECKS", "STEPS", "Check", "Finding", "Report", "Result", "Situation", "run"]
