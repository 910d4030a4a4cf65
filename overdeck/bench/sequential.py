"""The gate's group-sequential test: look five times, stop as soon as the answer is clear.

Looking often at a fixed threshold would find a regression in nothing (6 % instead of 1 %: simulated). So each
look spends part of the error it may make, α(t) = α·t² of the information t = n/80; the bounds below follow
from that spending (a test recomputes them by numerical integration).
"""

from collections.abc import Sequence
from math import log1p
from typing import Literal, NamedTuple

from overdeck.bench.statistics import signed_rank_z

LOOKS = (16, 25, 40, 60, 80)
FAIL_Z = (3.35, 3.20, 2.90, 2.65, 2.47)
"""One-sided α = .01 that an increase within tolerance is called a failure."""
PASS_Z = (2.88, 2.68, 2.34, 2.01, 1.77)
"""One-sided α = .05 that an increase over tolerance is called a pass."""


Answer = Literal["fail", "pass"] | None


class Look(NamedTuple):
    """What one look at ``pairs`` blocks says; ``answer`` None = not clear yet. ``z`` > 0: over tolerance."""

    answer: Answer
    pairs: int
    z: float


def look(log_ratios: Sequence[float], tolerance: float) -> Look:
    """Judge the blocks so far against a tolerated increase (0.03 = 3 %); their number must be one of LOOKS."""
    which = LOOKS.index(len(log_ratios))
    z = signed_rank_z([d - log1p(tolerance) for d in log_ratios])
    if z >= FAIL_Z[which]:
        return Look("fail", len(log_ratios), z)
    return Look("pass" if -z >= PASS_Z[which] else None, len(log_ratios), z)
