"""Files that others read a comparison from: one small module a format.

``destinations`` checks before the measurement what could fail after it; ``write_exports`` writes.
"""

from overdeck.bench.export.destination import Destination, destinations, write_exports
from overdeck.bench.export.measured import ArmRuns, Exporter, Measured, measured

__all__ = ["ArmRuns", "Destination", "Exporter", "Measured", "destinations", "measured", "write_exports"]
