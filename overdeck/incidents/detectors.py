"""What of Overdeck can find trouble by itself, by the names that a taxonomy uses."""

_COUNTS = ("timeouts", "errors")
"""What ``fires`` counts and ``open`` makes incidents of, whatever the verdict."""

_NO_TROUBLE = ("exempt", "unknown", "immature", "active")
"""Verdicts that say nothing against a module."""

_EVENTS = ("StopFailure",)
"""Events of a client that are trouble themselves."""


def known() -> tuple[str, ...]:
    """Every detector: ``audit: RULE``, ``doctor: CHECK``, ``fires: VERDICT`` or count, ``event: NAME``."""
    from overdeck.telemetry.verdict import VERDICTS
    from overdeck.wiring.doctor import CHECKS
    from overdeck.wiring.rules import RULES

    return (
        *(f"audit: {rule.id}" for rule in RULES),
        *(f"doctor: {check.name}" for check in CHECKS),
        *(f"fires: {count}" for count in _COUNTS),
        *(f"fires: {verdict}" for verdict in VERDICTS if verdict not in _NO_TROUBLE),
        *(f"event: {name}" for name in _EVENTS),
    )
