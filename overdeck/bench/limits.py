"""How long one run may take: what every verb demands of ``--timeout``."""

from overdeck.errors import usage

LONGEST_TIMEOUT_S = 86_400.0


def check_timeout(timeout_s: float) -> None:
    """Raise OverdeckError (usage) unless a run can have that many seconds; nan and infinity are none."""
    if not 0 < timeout_s <= LONGEST_TIMEOUT_S:
        raise usage(
            f"--timeout {timeout_s:g}: a run takes more than 0 and at most {LONGEST_TIMEOUT_S:g} seconds",
            hint="--timeout 60 is usual",
        )
