"""``od-incidents verify``: run stored evidence again."""

import time
from typing import Annotated

import typer

from overdeck.cli.incidents.consent import YesOption, consent_of
from overdeck.cli.incidents.options import RegistryOption, RepoOption, find_registry
from overdeck.cli.incidents.reminding import remind
from overdeck.cli.output import JsonOption, verb
from overdeck.errors import ExitCode, usage


def verify(
    wanted: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Resolved incidents.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every resolved incident.")] = False,
    yes: YesOption = False,
    repo: RepoOption = None,
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the evidence of resolved incidents again; one whose evidence no longer holds is evidence-lost from then on.

    Exit codes: 4 where evidence was lost, whatever else was found; 5 where nobody can tell now (nothing changes); 2
    without --yes where something has to be run.
    """
    with verb("incidents.verify", as_json) as out:
        from overdeck.incidents import telling, verifying
        from overdeck.incidents.when import timestamp

        if everything == bool(wanted):
            raise usage(
                "verify takes incidents or --all, one of the two",
                code="nothing-chosen",
                hint="od-incidents verify --all",
            )
        here = find_registry(registry)
        done = verifying.verify(
            here,
            None if everything else wanted,
            timestamp(time.time()),
            warn=out.warn,
            repo=repo,
            consent=consent_of(out, yes),
        )
        out.data = {
            "incidents": [
                {
                    **one.incident.facts,
                    "verdict": one.verdict,
                    "evidence": [check.facts for check in one.checks],
                }
                for one in done
            ]
        }
        for one in done:
            for loss in telling.losses(one):
                out.warn(loss)
            out.line(telling.verified(one))
        if not done:
            out.note("no incident is resolved; od-incidents list --state all")
        if any(one.verdict == verifying.LOST for one in done):
            remind(out, here.log)
        codes = {one.exit_code for one in done}
        out.exit_code = next(
            (code for code in (ExitCode.REJECTED, ExitCode.UNVERIFIABLE) if code in codes), ExitCode.OK
        )
