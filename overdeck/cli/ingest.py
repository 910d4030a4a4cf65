"""``overdeck ingest``."""

import sys
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from overdeck.cli.output import JsonOption, Output, verb
from overdeck.cli.progress import reading_bar
from overdeck.errors import OverdeckError, usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.telemetry.ingest import Tick


def ingest(
    status: Annotated[
        bool, typer.Option("--status", help="Only say what was read, what is behind, what was refused.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on until interrupted; with --json one document a tick.")
    ] = False,
    every: Annotated[float, typer.Option("--every", metavar="SECONDS", help="How often --follow looks.")] = 2.0,
    as_json: JsonOption = False,
) -> None:
    """Take what the logs gained into the telemetry database. `fires` and `tui` begin with this themselves."""
    if follow:
        _follow(every, status, as_json)
    with verb("ingest", as_json) as out:
        places = Places.from_environment()
        if status:
            _show_status(out, places)
        else:
            _ingest(out, places)


def _follow(every_s: float, status: bool, as_json: bool) -> NoReturn:
    """Tick until Ctrl-C; each tick that has something to say is a document, or lines, of its own.

    The interrupt is how this ends and no work is cut short by it: what a tick took in is committed with how far it
    read, and the next one goes on there. So it ends in peace, not with the error of an interrupted command.
    """
    with verb("ingest", as_json):
        if status:
            raise usage("--follow and --status exclude each other", hint="overdeck ingest --status")
        if not 0.05 <= every_s <= 86_400:
            raise usage(f"--every {every_s:g} is not between 0.05 and 86,400 seconds", hint="--every 2 is usual")
        from overdeck.telemetry.ingest import follow

        places = Places.from_environment()
        with suppress(KeyboardInterrupt):
            for done in follow(places, every_s=every_s):
                with verb("ingest", as_json, looks_itself=True) as out:
                    if isinstance(done, OverdeckError):
                        out.warn(f"{done.message}; waiting (next: {done.hint})")
                    else:
                        _say(out, places, done)
                sys.stdout.flush()
        raise typer.Exit  # every tick was a document of its own


def _ingest(out: Output, places: Places) -> None:
    from overdeck.telemetry.ingest import ingest as tick

    with reading_bar() as progress:
        done = tick(places, progress=progress)
    _say(out, places, done)


def _say(out: Output, places: Places, done: "Tick") -> None:
    for warning in done.warnings:
        out.warn(warning)
    out.data = {
        "fires": done.fires,
        "calls": done.calls,
        "quarantined": done.quarantined,
        "files": [asdict(file) for file in done.files],
        "published": done.published,
        "seconds": done.seconds,
    }
    from overdeck.telemetry.sources import log_files

    if not done.files and not log_files(places)[0]:
        out.line(
            "No hook has logged anything yet. Next: overdeck install; where that was done, a call in the client"
        )
        return
    out.line(f"{done.fires:,} fires and {done.calls:,} calls in {done.seconds:.2f} s")
    if done.quarantined:
        out.line(f"{done.quarantined:,} lines refused; which and why: overdeck ingest --status")


def _show_status(out: Output, places: Places) -> None:
    from overdeck.telemetry.status import status
    from overdeck.telemetry.words import iso

    now = status(places)
    out.data = {
        "as_of": iso(now.as_of),
        "sources": [{**asdict(source), "last_read": iso(source.last_read)} for source in now.sources],
        "quarantine": [asdict(refused) for refused in now.refused],
    }
    if not now.sources:
        out.line("No log has been read yet. Next: overdeck install")
        return
    out.table(
        ["file", "generation", "lines", "refused", "read to", "behind"],
        [
            [
                source.file,
                str(source.generation),
                f"{source.lines:,}",
                f"{source.quarantined:,}",
                f"{source.offset:,}",
                "gone" if source.behind is None else f"{source.behind:,}",
            ]
            for source in now.sources
        ],
        right=["generation", "lines", "refused", "read to", "behind"],
    )
    for refused in now.refused:
        offsets = ", ".join(f"{offset:,}" for offset in refused.offsets)
        more = (
            f" and {refused.lines - len(refused.offsets):,} more" if refused.lines > len(refused.offsets) else ""
        )
        out.line(f"refused: {refused.reason}: {refused.file} at byte {offsets}{more}")
    out.line(f"as of {iso(now.as_of)}")
