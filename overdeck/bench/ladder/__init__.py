"""What a no-op hook costs on this machine, by what it is written in and how big the payload is.

``rungs`` says which ways there are and finds them here, ``measure`` sets each against a bare ``true`` on every
size, ``advice`` says which one a hook should use and why.
"""

from overdeck.bench.ladder.advice import Advice, advise
from overdeck.bench.ladder.measure import Climbed, Ladder, Step, measure_ladder
from overdeck.bench.ladder.rungs import Rung, find_rungs

__all__ = ["Advice", "Climbed", "Ladder", "Rung", "Step", "advise", "find_rungs", "measure_ladder"]
