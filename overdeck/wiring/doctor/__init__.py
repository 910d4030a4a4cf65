"""``overdeck doctor``: ordered checks, the machine before the launcher, the wiring, and the modules.

A new check is a function, a ``Check``, and its place in a tuple.
"""

from overdeck.wiring.doctor.canary import CANARY
from overdeck.wiring.doctor.check import Check, Report, Result, Situation, run
from overdeck.wiring.doctor.launcher import LAUNCHER
from overdeck.wiring.doctor.machine import MACHINE
from overdeck.wiring.doctor.wired import WIRED

CHECKS: tuple[Check, ...] = (*MACHINE, *LAUNCHER, *WIRED, *CANARY)

__all__ = ["CHECKS", "Check", "Report", "Result", "Situation", "run"]
