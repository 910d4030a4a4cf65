"""What the page's workers run, off the event loop: calls of the cores, one after another, and what they gave.

What no first row needs is imported by the job that needs it.
"""

import shlex
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.errors import OverdeckError, unusable, usage
from overdeck.incidents.text import shown
from overdeck.telemetry.ingest import up_to_date
from overdeck.telemetry.report import ModuleRow, Report, report
from overdeck.telemetry.store import Published, reader
from overdeck.tui.surroundings import Surroundings

if TYPE_CHECKING:
    from overdeck.incidents.ofmodule import Proposal, Related
    from overdeck.incidents.registry import Registry
    from overdeck.wiring.dossier import Dossier


@dataclass(frozen=True)
class Read:
    """A report. ``final``: after the ingest tick; ``locked``: another process was at it, so there was none."""

    report: Report
    warnings: tuple[str, ...] = ()
    final: bool = False
    locked: bool = False


def trouble(error: OverdeckError | OSError, around: Surroundings) -> OverdeckError:
    """Any failure of a job in the three parts of an error."""
    if isinstance(error, OverdeckError):
        return error
    return unusable(error) or usage(str(error), hint=f"ls -ld {around.places.state}")


def read_published(around: Surroundings, since: timedelta) -> Read | None:
    """What was published before, without a tick; None where nothing was, or it cannot be read."""
    places = around.places
    if places.published.exists():
        with suppress(OverdeckError), reader(places) as published:
            return Read(_report(around, published, since))
    return None


def read_current(around: Surroundings, since: timedelta) -> Read:
    """One ingest tick and the report; raises OverdeckError."""
    with up_to_date(around.places, now=around.clock()) as (published, warnings):
        found = _report(around, published, since)
        said = () if published.locked else tuple(warnings)
        return Read(found, (*_no_gates(around), *said, *found.warnings), final=True, locked=published.locked)


def _no_gates(around: Surroundings) -> list[str]:
    """Where the client starts none of our gates, as every command says it."""
    from overdeck.wiring.deadlauncher import dead_launchers

    with suppress(OSError):
        return list(dead_launchers(around.places))
    return []


def _report(around: Surroundings, published: Published, since: timedelta) -> Report:
    from overdeck.wiring.unadopted import with_hooks

    found = report(around.places, published, now=around.clock(), since=since, whole=True)
    return with_hooks(found, around.places, published, around.cwd)


def read_dossier(around: Surroundings, row: ModuleRow) -> "Dossier":
    """Fires, failures and costs of one row; raises OverdeckError."""
    from overdeck.wiring.dossier import dossier

    with reader(around.places) as published:
        return dossier(around.places, published, row, around.clock())


def read_related(around: Surroundings, row: ModuleRow, found: Report) -> "tuple[Related, Path]":
    """Its incidents, and the folder of the registry they are in; raises OverdeckError, also where there is none."""
    from overdeck.incidents import ofmodule

    here, cache = _registry(around), around.places.cache
    return ofmodule.related(here, row, found.as_of, warn=lambda _text: None, cache=cache), here.root


def _registry(around: Surroundings) -> "Registry":
    from overdeck.incidents import registry

    return registry.load(registry.locate(around.registry, around.cwd, around.environ))


def run_canary(around: Surroundings, id: str) -> str:
    """Run a module's own matrix through the front and keep the result; what it gave, in words. Raises OverdeckError."""
    from overdeck.authoring import canaries
    from overdeck.authoring.inventory import find

    found = canaries.run(around.places, find(around.places, id).manifest, around.clock())
    if found.passed:
        return f"the canary of {id} passes: {found.cases} cases, each with the prefilter and around it"
    return f"the canary of {id} FAILS: {found.failures[0] if found.failures else 'its matrix has no case'}"


def keep_module(around: Surroundings, id: str, because: str) -> str:
    """The owner's word that a module stays; raises OverdeckError."""
    from overdeck.authoring.inventory import find
    from overdeck.telemetry import keep

    find(around.places, id)
    return f"{id} is exempt from now on: {keep.keep(around.places, id, because, around.clock())}. K takes it back"


def let_go(around: Surroundings, id: str) -> str:
    """Take the word back; what was done and how to undo it. Raises OverdeckError."""
    from overdeck.telemetry import keep

    word = keep.kept(around.places).get(id)
    if word is None or not keep.let_go(around.places, id):
        return f"nobody gave a word for {id}: nothing was changed"
    again = f"overdeck fires keep {id} --because {shlex.quote(word.because)}"
    return f"your word for {id} is taken back, it is judged like the others again. To undo: {again}"


def proposals(around: Surroundings, row: ModuleRow, found: Report) -> "list[Proposal]":
    """What ``open_incidents`` may write; raises OverdeckError."""
    from overdeck.incidents import ofmodule

    return ofmodule.proposed(_registry(around), row, found.as_of)


def removal_text(around: Surroundings, row: ModuleRow) -> tuple[str, str]:
    """What to copy, and what it is; raises OverdeckError."""
    from overdeck.telemetry.removal import removal

    steps = removal(around.places, row)
    if steps.command:
        return steps.command, f"the command that switches {row.id} off; paste it into a shell: {steps.command}"
    return steps.toml, f"what switches {row.id} off; {steps.file} has a table of that name: set it there"


def open_incidents(around: Surroundings, row: ModuleRow, found: Report, only: Collection[str]) -> str:
    """Record what the row tells, of these fingerprints; raises OverdeckError."""
    from overdeck.incidents import ofmodule

    warnings: list[str] = []
    here, at = _registry(around), around.clock().timestamp()
    done = ofmodule.open_for(here, row, found.as_of, at, warn=warnings.append, only=only)
    became = {
        (True, True): "opened",
        (False, True): "is there already, counted as seen again",
        (False, False): "has this already, nothing was written",
    }
    said = [f"{one.incident.id} {became[one.created, one.recorded]}: {shown(one.incident.title)}" for one in done]
    return "; ".join([*said, *warnings])
