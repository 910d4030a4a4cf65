"""What a simulation may find: limits on rates, each with three standard errors for the trials being finite."""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev

ERRORS = 3


class LimitBroken(AssertionError):
    """A simulated rate or mean is on the wrong side of its limit."""


def at_most(limit: float, hits: Sequence[bool], *, errors: float = ERRORS) -> None:
    """Raise LimitBroken where more than ``limit`` (0.01 = 1 %) of ``hits`` are true, beyond ``errors``."""
    _check(fmean(hits) <= limit + errors * _error(limit, hits), f"{fmean(hits):.2%} of {len(hits)} > {limit:.2%}")


def at_least(limit: float, hits: Sequence[bool]) -> None:
    """Raise LimitBroken where fewer than ``limit`` of ``hits`` are true."""
    _check(fmean(hits) >= limit - ERRORS * _error(limit, hits), f"{fmean(hits):.2%} of {len(hits)} < {limit:.2%}")


def within(limit: float, margin: float, hits: Sequence[bool]) -> None:
    """Raise LimitBroken where the share of ``hits`` is further than ``margin`` from ``limit``; no standard errors."""
    _check(abs(fmean(hits) - limit) <= margin, f"{fmean(hits):.2%} of {len(hits)}, not {limit:.0%} ± {margin:.0%}")


def mean_at_most(limit: float, values: Sequence[float]) -> None:
    """Raise LimitBroken where the mean of ``values`` is over ``limit``."""
    error = stdev(values) / sqrt(len(values))
    _check(
        fmean(values) <= limit + ERRORS * error, f"a mean of {fmean(values):.2f} over {len(values)} > {limit:.2f}"
    )


def _error(rate: float, hits: Sequence[bool]) -> float:
    return sqrt(rate * (1 - rate) / len(hits))


def _check(kept: bool, what: str) -> None:
    if not kept:
        raise LimitBroken(what)
