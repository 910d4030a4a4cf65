"""What of Overdeck can find trouble by itself, by the names that a taxonomy uses."""


def known() -> tuple[str, ...]:
    """Every lint rule (``audit: RULE``), check (``doctor: CHECK``) and telling verdict (``fires: VERDICT``)."""
    from overdeck.telemetry.verdict import VERDICTS
    from overdeck.wiring.doctor import CHECKS
    from overdeck.wiring.rules import RULES

    return (
        *(f"audit: {rule.id}" for rule in RULES),
        *(f"doctor: {check.name}" for check in CHECKS),
        *(f"fires: {verdict}" for verdict in VERDICTS if verdict not in _NO_TROUBLE),
    )


_NO_TROUBLE = ("exempt", "unknown", "immature", "active")
"""Verdicts that say nothing against a module."""
