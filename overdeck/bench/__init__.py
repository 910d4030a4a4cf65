"""hookbench: randomised pairs, exact signed-rank, and the gate on per-call cost.

>>> from overdeck.bench import command_arm, compare
>>> outcome = compare(command_arm("A", "cat"), command_arm("B", "cat"), payload=b"{}", pairs=8)
>>> outcome.ratios["cpu"].low <= outcome.ratios["cpu"].value <= outcome.ratios["cpu"].high
True

More arms are each compared with the first:

>>> arms = [command_arm(name, "cat") for name in "ABC"]
>>> [contrast.arm for contrast in compare(*arms, payload=b"{}", pairs=9).contrasts]
['B', 'C']
"""

from overdeck.bench.arm import Arm, command_arm, event_arm
from overdeck.bench.compare import compare
from overdeck.bench.outcome import Comparison, Contrast
from overdeck.bench.starts.counter import Count, StartCounter, Starts, count_starts
from overdeck.bench.starts.tree import StartNode
from overdeck.bench.statistics import Ratio
from overdeck.errors import InvalidMeasurement

__all__ = [
    "Arm",
    "Comparison",
    "Contrast",
    "Count",
    "InvalidMeasurement",
    "Ratio",
    "StartCounter",
    "StartNode",
    "Starts",
    "command_arm",
    "compare",
    "count_starts",
    "event_arm",
]
