"""``od-incidents open``: record trouble."""

import time
from pathlib import Path
from typing import Annotated

import typer

from overdeck.cli.incidents.options import KeyOption, RegistryOption, find_registry
from overdeck.cli.output import JsonOption, verb

_MEANT = {
    "again": "it came back on a build that has the fix",
    "suspect": "it was seen again, and nobody can tell whether that session had the fix",
    "old-build": "seen on an old build, which has not got the fix yet",
    "before-the-end": "seen before its end",
}


def open_incident(
    *,
    class_name: Annotated[
        str,
        typer.Option(
            "--class",
            metavar="CLASS",
            help="What kind of trouble: C033 or hook-timeout; any other word lists them.",
        ),
    ],
    title: Annotated[str, typer.Option("--title", help="What happened, in one line.")],
    fingerprint: Annotated[
        str | None,
        typer.Option("--fingerprint", help="What makes two sightings the same trouble. Default: the title."),
    ] = None,
    session: Annotated[str | None, typer.Option("--session", help="The session that saw it.")] = None,
    build: Annotated[
        str | None, typer.Option("--build", metavar="SHA", help="The commit that session runs on.")
    ] = None,
    key: KeyOption = None,
    repo: Annotated[
        Path | None,
        typer.Option("--repo", metavar="DIR", help="Where --build is. Default: the registry's repository."),
    ] = None,
    registry: RegistryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open an incident; while one of the same class and fingerprint is open, count an occurrence on it.

    One that is resolved is open again where the build had its fix, or nobody knows the build; on an older build the
    sighting is only counted.
    """
    with verb("incidents.open", as_json) as out:
        from overdeck.incidents import opening
        from overdeck.incidents.text import shown
        from overdeck.incidents.when import timestamp

        sighting = opening.Sighting(class_name, title, fingerprint, session, build, key)
        opened = opening.open_incident(
            find_registry(registry), sighting, timestamp(time.time()), warn=out.warn, repo=repo
        )
        incident = opened.incident
        out.data = {
            **incident.facts,
            "created": opened.created,
            "recorded": opened.recorded,
            "recurrence": opened.recurrence,
            "earlier": list(opened.earlier),
            "trailer": opened.trailer,
            "log": str(opened.log),
        }
        if not opened.recorded:
            out.line(f"{incident.id} has this call already (key {key}); nothing was written")
        elif opened.created:
            out.line(f"{incident.id} opened: {incident.slug}: {shown(incident.title)}")
        elif opened.recurrence is not None:
            out.line(f"{incident.id} is {incident.state}: {_MEANT[opened.recurrence]}: {shown(incident.title)}")
        else:
            again = f"counted as occurrence {incident.occurrences}"
            out.line(f"{incident.id} is open already; {again}: {shown(incident.title)}")
        for name in opened.earlier:
            out.note(f"it happened before: od-incidents show {name}")
        out.note(f"the commit that fixes it has this line at the end of its message: {opened.trailer}")
        if opened.recorded and any((folder / ".git").exists() for folder in opened.log.parents):
            out.note(f"commit the log, too: {opened.log}")
