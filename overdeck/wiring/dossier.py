"""All that is known of one row of the report beyond its counts: last fires, failures, and what it cost day by day."""

from dataclasses import dataclass
from datetime import datetime

from overdeck.authoring.failures import Failure, read_failures
from overdeck.paths import Places
from overdeck.telemetry.report import FireLine, ModuleRow, last_fires
from overdeck.telemetry.series import DayCost, hook_costs, module_costs
from overdeck.telemetry.store import Published
from overdeck.telemetry.transcripts.lately import last_acts

FIRES = 20
FAILURES = 10


@dataclass(frozen=True)
class Dossier:
    """``fires`` and ``failures`` newest first, the last few of them; ``costs`` oldest first."""

    id: str
    fires: tuple[FireLine, ...]
    failures: tuple[Failure, ...]
    costs: tuple[DayCost, ...]


def dossier(places: Places, published: Published, row: ModuleRow, now: datetime) -> Dossier:
    """What the published copy and the kept failures say of ``row``. A hook's failures are in its transcripts alone."""
    connection = published.connection
    if not row.adopted:
        return Dossier(
            row.id,
            tuple(last_acts(connection, row.command, FIRES)),
            (),
            tuple(hook_costs(connection, row.command, now)),
        )
    failures = read_failures(places, row.id)
    return Dossier(
        row.id,
        tuple(last_fires(connection, row.id, FIRES)),
        tuple(reversed(failures[-FAILURES:])),
        tuple(module_costs(connection, row.id, now)),
    )
