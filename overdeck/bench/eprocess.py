"""`ab --until-decided`: evidence that stays valid however often it is looked at.

A bet against "no difference", made anew at every block on what the blocks before have taught. The sign of a
block's log ratio d is fair under "no difference", so u = clip(d / ŝ, ±2.5) with a scale ŝ that knows only the
past makes exp(λS − λ²V/2), S = Σu, V = Σu², a supermartingale for every λ (cosh x ≤ exp x²/2). Mixed over a
half-normal λ of precision ρ this is

    E = 2 √(ρ / (V + ρ)) · exp(S² / 2(V + ρ)) · Φ(S / √(V + ρ)),

which exceeds 1/α at any time with probability α at most (Ville). "Slower" and "faster" are two bets, S and −S,
that share α: each has to reach 2/α.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import median
from typing import Literal, NamedTuple

from overdeck.bench.statistics import Ratio, hodges_lehmann

RHO = 2.5
CLIP = 2.5
FIRST_SCALE = 0.03
"""ŝ in log units while there is no past to learn it from."""
_LEARNED_FROM = 5
"""Past differences needed before their MAD is believed."""
_LEAST_SCALE = 1e-4
_NORMAL_MAD = 1.4826
"""The MAD of a normal sample times this is its standard deviation."""
_FAR = math.log(1e3)
"""Ratios over 1000 or under 1/1000 are not looked for when an interval is inverted."""
_HALVINGS = 40

Direction = Literal["faster", "slower"]


class Decision(NamedTuple):
    """The first time a bet was won: after ``pairs`` blocks."""

    direction: Direction
    pairs: int


def log_e(total: float, square: float) -> float:
    """log E for S = ``total`` and V = ``square``: evidence for S > 0."""
    spread = square + RHO
    x = total / math.sqrt(spread)
    return math.log(2) + 0.5 * math.log(RHO / spread) + x * x / 2 + _log_phi(x)


def _log_phi(x: float) -> float:
    if x > -30:
        return math.log(math.erfc(-x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(-x * math.sqrt(2 * math.pi))  # erfc underflows


def scale(past: Sequence[float]) -> float:
    """ŝ for the next difference: the MAD of those before it, as a standard deviation."""
    if len(past) < _LEARNED_FROM:
        return FIRST_SCALE
    centre = median(past)
    return max(_NORMAL_MAD * median(abs(d - centre) for d in past), _LEAST_SCALE)


class EProcess:
    """The two bets on the differences given so far; ``alpha`` is what both together may err.

    >>> bets = EProcess(alpha=0.01)
    >>> for _ in range(14):
    ...     bets.add(0.2)
    >>> bets.decision
    Decision(direction='slower', pairs=14)
    """

    def __init__(self, alpha: float) -> None:
        self._needed = math.log(2 / alpha)
        self._past: list[float] = []
        self._sum = self._square = 0.0
        self._most = 0.0
        self.decision: Decision | None = None

    def add(self, difference: float) -> None:
        """One more block's log ratio."""
        bet = _clipped(difference / scale(self._past))
        self._past.append(difference)
        self._sum += bet
        self._square += bet * bet
        slower, faster = log_e(self._sum, self._square), log_e(-self._sum, self._square)
        self._most = max(self._most, slower, faster)
        if self.decision is None and max(slower, faster) >= self._needed:
            self.decision = Decision("slower" if slower > faster else "faster", len(self._past))

    @property
    def p(self) -> float:
        """An upper bound of p that holds at every time: 2 / the largest E so far."""
        return min(1.0, 2 * math.exp(-self._most))


def evidence(differences: Sequence[float], alpha: float) -> EProcess:
    """The bets after all of ``differences``, in their order."""
    bets = EProcess(alpha)
    for difference in differences:
        bets.add(difference)
    return bets


@lru_cache(maxsize=32)
def fewest(alpha: float) -> int:
    """The blocks without which no bet can be won, even if all of them are clipped on one side."""
    n = 1
    while log_e(CLIP * n, CLIP * CLIP * n) < math.log(2 / alpha):
        n += 1
    return n


def anytime_interval(differences: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """The shifts θ against which no bet on d − θ is won yet: valid although the data chose when to stop.

    Infinite on a side where a few blocks cannot bound it. The scales are those of the unshifted differences:
    they know only the past, which is all they have to.
    """
    known = [scale(differences[:i]) for i in range(len(differences))]
    needed = math.log(2 / (1 - confidence))
    centre = hodges_lehmann(differences)

    def won(shift: float, sign: int) -> bool:
        bets = [_clipped(sign * (d - shift) / s) for d, s in zip(differences, known, strict=True)]
        return log_e(sum(bets), sum(bet * bet for bet in bets)) >= needed

    def bound(sign: int) -> float:
        inside, outside = centre, centre - sign * _FAR
        if not won(outside, sign):
            return -sign * math.inf
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if won(middle, sign) else (middle, outside)
        return outside

    return bound(1), bound(-1)


def anytime_ratio(differences: Sequence[float], alpha: float) -> Ratio:
    """Log differences as a ratio whose interval and p hold at whatever block one stopped."""
    low, high = anytime_interval(differences)
    return Ratio(
        math.exp(hodges_lehmann(differences)), math.exp(low), math.exp(high), evidence(differences, alpha).p
    )


def _clipped(bet: float) -> float:
    return max(-CLIP, min(CLIP, bet))
