"""How a page stands: how old its data is, and what keeps it from being newer. The words are the same everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from overdeck.errors import OverdeckError
from overdeck.telemetry.words import span


@dataclass(frozen=True)
class Standing:
    """What the status line and the notice below it say.

    ``busy``: what is being done ("reading the logs"). ``as_of``: when the data was true (aware UTC), None before any.
    ``locked``: who keeps the data from being newer ("another process is ingesting"). ``missing``: what is not
    there and what to type ("no hook has logged anything. Type: overdeck install"). ``facts``: short, most wanted
    first ("3 of 20 modules", "by verdict").
    """

    busy: str = ""
    as_of: datetime | None = None
    locked: str = ""
    missing: str = ""
    error: OverdeckError | None = None
    warnings: Sequence[str] = ()
    facts: Sequence[str] = ()


def status(standing: Standing, now: datetime, *, paused: bool, failed: str = "") -> str:
    """One line; what is unusual stands first, so that a narrow screen cuts what is usual.

    ``failed``: what the user asked for last, and why it was not done.
    """
    parts = ["paused"] if paused else []
    if failed:
        parts.append(f"failed: {failed}")
    if standing.error:
        parts.append("cannot be read")
    if standing.locked:
        parts.append(f"locked: {standing.locked}")
    if standing.missing:
        parts.append("no data yet")
    if standing.busy:
        parts.append(f"{standing.busy} …")
    if standing.as_of:
        what = "looked" if standing.missing else "data of"
        parts.append(f"{what} {span(now - standing.as_of)} ago")
    return " · ".join([*parts, *standing.facts])


def notice(standing: Standing) -> list[str]:
    """The lines below: what is wrong, and what to type."""
    lines = []
    if standing.error:
        lines += [f"error: {standing.error.message}", f"next: {standing.error.hint}"]
    if standing.missing:
        lines.append(f"No data yet: {standing.missing}")
    return lines + [f"warning: {warning}" for warning in dict.fromkeys(standing.warnings)]
