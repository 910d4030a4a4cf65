"""``od-incidents resolve``: close incidents, with an artifact that is checked or as wont-fix."""

import time
from typing import Annotated

import typer

from overdeck.cli.incidents.consent import YesOption, consent_of
from overdeck.cli.incidents.options import KeyOption, RegistryOption, RepoOption, find_registry
from overdeck.cli.incidents.reminding import remind
from overdeck.cli.output import JsonOption, verb


def resolve(
    wanted: Annotated[list[str], typer.Argument(metavar="ID", help="Incidents to close, all of them or none.")],
    *,
    artifact: Annotated[
        list[str] | None,
        typer.Option(
            "--artifact",
            metavar="REF",
            help="What proves the fix: commit:SHA, test:PATH::ID@SHA, repro:PATH or resume:PATH. May be repeated.",
        ),
    ] = None,
    wont_fix: Annotated[bool, typer.Option("--wont-fix", help="Leave it as it is; needs --because.")] = False,
    because: Annotated[
        str | None,
        typer.Option(
            "--because", help="Why. In place of an 'Incident: ID' trailer the link is shown as asserted."
        ),
    ] = None,
    summary: Annotated[
        str | None, typer.Option("--summary", "--message", metavar="LINE", help="What the fix was, in one line.")
    ] = None,
    broken: Annotated[
        str | None,
        typer.Option("--broken", metavar="REV", help="For repro: and resume: a commit that has the trouble."),
    ] = None,
    yes: YesOption = False,
    key: KeyOption = None,
    repo: RepoOption = None,
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close incidents with an artifact that proves the fix, or as wont-fix with a reason.

    commit:SHA is accepted when, after a fetch, it is in the branch that ships (origin/main) and its message has
    the trailer 'Incident: ID'. test:PATH::ID@SHA is run in clean worktrees: it must fail on the parent of SHA, with
    its file laid over, and pass at SHA. repro:PATH and resume:PATH, programs in the repository, must fail at --broken
    and end well at the head. What is run is listed, and needs --yes. Exit codes: 2 no artifact or no --yes, 3 no such
    incident, 4 it does not hold, 5 nobody can tell now. Everything that is wrong is told; the code is the highest.
    """
    with verb("incidents.resolve", as_json) as out:
        from overdeck.incidents import resolving, telling
        from overdeck.incidents.when import timestamp

        claim = resolving.Closing(wanted, artifact or (), wont_fix, because, summary, repo, broken, key)
        here = find_registry(registry)
        outcome = resolving.resolve(
            here,
            claim,
            timestamp(time.time()),
            warn=out.warn,
            consent=consent_of(out, yes),
        )
        rows = [
            {**closed.incident.facts, "recorded": closed.recorded, "evidence": closed.incident.evidence}
            for closed in outcome
        ]
        out.data = {**(rows[0] if len(rows) == 1 else {}), "incidents": rows}
        for closed in outcome:
            for doubt in telling.doubts(closed):
                out.warn(doubt)
            out.line(telling.closed(closed))
        if any(closed.recorded for closed in outcome):
            remind(out, here.log)
