"""``overdeck audit``: what the hooks cost, and which are broken."""

import os
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from overdeck.cli.output import JsonOption, Output, on_one_line, verb
from overdeck.errors import ExitCode, OverdeckError, not_found, usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from collections.abc import Set
    from datetime import timedelta

    from overdeck.telemetry.transcripts.costs import TranscriptReport
    from overdeck.wiring.job import Measurement
    from overdeck.wiring.settings import Settings


class FailOn(StrEnum):
    """The weight of finding that makes the command exit 1."""

    error = "error"
    warning = "warning"


def audit(
    *,
    settings: Annotated[
        list[Path] | None,
        typer.Option(
            "--settings", metavar="FILE", help="A settings file, or a plugin's hooks.json; may be repeated."
        ),
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Run the hooks for real, in a throwaway HOME.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to running the hooks that --measure lists.")] = False,
    allow_network: Annotated[
        bool, typer.Option("--allow-network", help="Measure even if the hooks keep the network.")
    ] = False,
    transcripts: Annotated[
        Path | None,
        typer.Option(
            "--transcripts", metavar="DIR", help="Read the transcripts below here, not the client's own."
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Only what transcripts recorded in this time: 12h, 7d, 4w.")
    ] = None,
    payload: Annotated[
        Path | None, typer.Option("--payload", help="With --measure: the payload of the event it names.")
    ] = None,
    client: Annotated[
        list[str] | None,
        typer.Option("--client", metavar="NAME", help="Only this client's hooks; may be repeated."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write the report as one self-contained page, with charts."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Leave nothing out: every event, every finding, what was recorded.")
    ] = False,
    fail_on: Annotated[
        FailOn | None, typer.Option("--fail-on", help="Exit 1 at such a finding or a worse one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what your hooks cost, which do nothing, and what is wrong with them. Changes no file of yours.

    Reads the client's transcripts and settings files. With --settings, transcripts only where --transcripts names them.
    """
    with verb("audit", as_json) as out:
        from overdeck.dispatch.record import now
        from overdeck.payloadfile import read_payload
        from overdeck.wiring.audit import audit as judge

        alone = [name for name, given in (("--payload", payload), ("--yes", yes)) if given and not measure]
        if alone:
            raise usage(f"{' and '.join(alone)} says nothing without --measure", hint="overdeck audit --measure")
        places = Places.from_environment()
        if html:
            from overdeck.wiring.html.place import check_place

            check_place(html)
        named = list(dict.fromkeys(settings or []))
        wanted = _clients(client or [])
        files = _files(places, named, wanted)
        measured = None
        if measure:
            given = read_payload(payload).document if payload else None
            if not yes:
                raise _needs_yes(files, named, payload, allow_network)
            measured = _measure(places, files, named, out, allow_network, given)
        if transcripts or not named:
            _take_in_logs(places, out)
        recorded = _recorded(places, transcripts, since, out) if transcripts or not named else None
        report = judge(
            files,
            home=places.home,
            user_dir=places.claude_dir.absolute(),
            path=os.environ.get("PATH"),
            places=places,
            measured=measured,
            recorded=recorded,
        )
        at = now()
        data: dict[str, Any] = {"at": at, "transcripts": None}
        if recorded:
            from overdeck.cli.transcripts import complain, show
            from overdeck.telemetry.transcripts.document import as_data
            from overdeck.wiring.recorded import unrecorded

            silent = unrecorded(files, recorded)
            data["transcripts"] = as_data(recorded, silent) if as_json else None
            complain(recorded, out)
            if full:
                show(recorded, silent, out)
        out.data = {**report.as_data(), **data} if as_json else None
        for line in (*report.notes, *report.not_measured):
            out.warn(line)
        if not named and (not wanted or "claude" in wanted):
            from overdeck.wiring.sources import unread_above

            for file in unread_above(_here(places), places.home.absolute()):
                out.warn(f"{file} is not read by a client that is started here; to audit it: cd {file.parents[1]}")
        if not files:
            out.warn(_nothing_found(places, wanted or {"claude"}))
            out.note("next: overdeck audit --settings FILE, or, to see it at work on bundled hooks: overdeck demo")
        elif not as_json:
            from overdeck.cli.audit_page import show as show_page

            show_page(report, out, places.home, full=full)
        if html:
            from overdeck.wiring.html import write_page

            write_page(html, report, at=at, home=places.home, recorded=recorded)
            out.note(f"written: {html}")
        if fail_on and report.worst() in {"error", fail_on.value}:
            out.exit_code = ExitCode.FINDINGS


def _clients(names: list[str]) -> frozenset[str]:
    """The clients asked for, by their names here; raises OverdeckError for one that nobody knows."""
    from overdeck.wiring.audit.wording import CLIENT_NAMES

    asked = frozenset({"claude-code": "claude", "gemini-cli": "gemini"}.get(name, name) for name in names)
    strange = sorted(asked - set(CLIENT_NAMES))
    if strange:
        raise usage(
            f"no client is called {strange[0]!r}: {', '.join(CLIENT_NAMES)}", hint="overdeck audit --client claude"
        )
    return asked


def _here(places: Places) -> Path:
    """The folder we are in; the home, which is no project, where that folder is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return places.home


def _nothing_found(places: Places, wanted: "Set[str]") -> str:
    """That there is no hook anywhere, and where it was looked for."""
    from overdeck.wiring.audit.wording import client_name
    from overdeck.wiring.clients import named

    names = sorted(wanted)
    looked = [str(path) for name in names for path in named(name).usual_paths(places, _here(places))]
    whose = " or ".join(map(client_name, names))
    return f"no settings file of {whose}{': looked at ' if looked else ''}{', '.join(looked)}"


def _files(places: Places, named: list[Path], clients: frozenset[str]) -> list["Settings"]:
    """The files that were named, or those that the clients read; of ``clients`` alone where any are."""
    from overdeck.wiring.clients import owner
    from overdeck.wiring.settings import read_settings
    from overdeck.wiring.sources import all_files

    if not named:
        return all_files(places, _here(places), clients or None)
    read = [read_settings(path, client=owner(path, places.folders)) for path in named]
    return [file for file in read if not clients or file.client in clients]


def _take_in_logs(places: Places, out: Output) -> None:
    """The tick that every report begins with; what keeps it from being made is no reason not to audit."""
    if places.fires_log.exists() or places.calls_log.exists():
        from overdeck.telemetry.ingest import up_to_date

        try:
            with up_to_date(places) as (_published, warnings):
                for warning in warnings:
                    out.warn(warning)
        except OverdeckError as problem:
            out.warn(problem.message)


def _recorded(
    places: Places, transcripts: Path | None, since: str | None, out: Output
) -> "TranscriptReport | None":
    """What the transcripts say; None where there are none. Raises OverdeckError where the named folder is not there."""
    root = transcripts or places.claude_dir / "projects"
    if transcripts and not transcripts.exists():
        raise not_found(f"there is no {transcripts}", hint="overdeck audit --transcripts DIR")
    length = None
    if since:
        from overdeck.telemetry.words import parse_since

        length = parse_since(since, "overdeck audit --since 7d")
    report = _examined(places, root, length) if root.exists() else None
    if report is None and (transcripts or since):
        out.note(
            f"no transcript (*.jsonl) at or below {root}: what the hooks did is not known, only what they are"
        )
    return report


def _examined(places: Places, root: Path, since: "timedelta | None") -> "TranscriptReport | None":
    from overdeck.cli.progress import reading_bar
    from overdeck.telemetry.transcripts.report import examine

    with reading_bar() as progress:
        return examine(places, root, since=since, progress=progress)


def _needs_yes(
    files: list["Settings"], named: list[Path], payload: Path | None, allow_network: bool
) -> OverdeckError:
    """The refusal to run anything unasked: the list of what would run, and the command that runs it."""
    from overdeck.wiring.audit import runnable_jobs
    from overdeck.wiring.job import runnable

    again = ["overdeck", "audit", *(word for path in named for word in ("--settings", str(path))), "--measure"]
    again += ["--payload", str(payload)] if payload else []
    again += ["--allow-network"] if allow_network else []
    jobs = runnable_jobs(files)
    listed = sorted({on_one_line(handler.shown) for job in jobs for handler in runnable(job)})
    where = "in a throwaway HOME and a copy of the project, " + (
        "with the network" if allow_network else "without a network"
    )
    said = f"--measure would run these {len(listed)} hooks, on {len(jobs)} kinds of call, {where}:"
    return usage(
        "\n  ".join([said, *listed]),
        hint=shlex.join([*again, "--yes"]),
        code="needs-yes",
    )


def _measure(
    places: Places,
    files: list["Settings"],
    named: list[Path],
    out: Output,
    allow_network: bool,
    payload: dict[str, Any] | None,
) -> "Measurement":
    from overdeck.wiring.audit import runnable_jobs
    from overdeck.wiring.measure import RUNS, measure

    jobs = runnable_jobs(files)
    # A file that was named belongs to the project it is in; the usual ones are read for the one we are in.
    project = files[0].project_dir if named and files else _here(places)
    times = f"{RUNS + 1} times"
    out.note(f"running the hooks of {len(jobs)} kinds of call, each {times}, then each hook alone, up to {times}")
    return measure(jobs, files, project=project, environ=os.environ, payload=payload, allow_network=allow_network)
