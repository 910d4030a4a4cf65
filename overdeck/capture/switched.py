"""Whether the module `capture` is on, and how long the module `replay` keeps what it took in."""

from overdeck.authoring.inventory import find
from overdeck.paths import Places


def switched_on(places: Places) -> bool:
    """Whether `capture` is on; raises OverdeckError where the config cannot be read."""
    return find(places, "capture").on


def keep_days(places: Places) -> int:
    """How many days of events the config wants kept; raises OverdeckError where it cannot be read."""
    said = find(places, "replay").manifest.config["keep_days"]
    return max(1, said) if isinstance(said, int) else 1
