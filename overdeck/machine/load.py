"""How busy the machine is."""

import os
from typing import NamedTuple


class Load(NamedTuple):
    """Runnable processes, averaged over one and five minutes, and the processors for them."""

    one: float
    five: float
    cores: int

    @property
    def per_core(self) -> float:
        return self.one / self.cores


def load() -> Load | None:
    """The load now; None where the system keeps none."""
    try:
        one, five, _ = os.getloadavg()
    except OSError:
        return None
    return Load(one, five, os.cpu_count() or 1)
