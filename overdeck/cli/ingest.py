"""``overdeck ingest``."""

from dataclasses import asdict
from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, Output, verb
from overdeck.cli.progress import reading_bar
from overdeck.paths import Places


def ingest(
    status: Annotated[
        bool, typer.Option("--status", help="Only say what was read, what is behind, what was refused.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Take what the logs gained into the telemetry database. `fires` and `tui` begin with this themselves."""
    with verb("ingest", as_json) as out:
        places = Places.from_environment()
        if status:
            _show_status(out, places)
        else:
            _ingest(out, places)


def _ingest(out: Output, places: Places) -> None:
    from overdeck.telemetry.ingest import ingest as tick

    with reading_bar() as progress:
        done = tick(places, progress=progress)
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
    if not places.fires_log.exists() and not places.calls_log.exists():
        out.line("No hook has logged anything yet. Next: overdeck install")
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
