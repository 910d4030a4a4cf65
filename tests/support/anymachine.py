"""How hypothesis runs here: what a busy machine makes slow is no failure of a law."""

from hypothesis import HealthCheck, settings


def load() -> None:
    """Make it what every ``@settings`` starts from; one with health checks of its own has to name ``too_slow``, too."""
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")
