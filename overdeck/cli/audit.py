"""``overdeck audit``: what the hooks cost, and which are broken."""

import os
import shlex
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import ExitCode, OverdeckError, not_found, usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from datetime import timedelta

    from overdeck.telemetry.transcripts.costs import TranscriptReport
    from overdeck.wiring.audit import AuditReport, Cost
    from overdeck.wiring.job import Measured
    from overdeck.wiring.settings import Settings


ALIKE_SHOWN = 3
"""Findings of one rule in one file before the rest is only counted."""


NAME_SHOWN = 28
"""Characters of a name in the table, on a terminal: the rest of a row fits beside it into 80."""


class FailOn(StrEnum):
    """The weight of finding that makes the command exit 1."""

    error = "error"
    warning = "warning"


def audit(
    *,
    settings: Annotated[
        list[Path] | None,
        typer.Option("--settings", help="A settings file, or a plugin's hooks.json; may be repeated."),
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
        from overdeck.wiring.settings import read_settings
        from overdeck.wiring.sources import claude_files, usual_paths

        alone = [name for name, given in (("--payload", payload), ("--yes", yes)) if given and not measure]
        if alone:
            raise usage(f"{' and '.join(alone)} says nothing without --measure", hint="overdeck audit --measure")
        places = Places.from_environment()
        named = list(dict.fromkeys(settings or []))
        files = [read_settings(path) for path in named] if named else claude_files(places, Path.cwd())
        measured = None
        if measure:
            given = read_payload(payload).document if payload else None
            if not yes:
                raise _needs_yes(files, named, payload, allow_network)
            measured = _measure(files, out, allow_network, given)
        if transcripts or not named:
            _take_in_logs(places, out)
        recorded = _recorded(places, transcripts, since, out) if transcripts or not named else None
        report = judge(
            files,
            home=places.home,
            user_dir=places.claude_dir.absolute(),
            path=os.environ.get("PATH"),
            measured=measured,
            recorded=recorded,
        )
        out.data = {"at": now(), **report.as_data(), "transcripts": None}
        if recorded:
            from overdeck.cli.transcripts import complain, show
            from overdeck.telemetry.transcripts.document import as_data
            from overdeck.wiring.recorded import unrecorded

            silent = unrecorded(files, recorded)
            out.data["transcripts"] = as_data(recorded, silent)
            complain(recorded, out)
            show(recorded, silent, out)
        for line in report.not_measured:
            out.warn(line)
        if not files:
            looked = ", ".join(map(str, usual_paths(places, Path.cwd())))
            out.warn(f"no settings file of Claude Code: looked at {looked}")
            out.note("next: overdeck audit --settings FILE, or, to see it at work on bundled hooks: overdeck demo")
        else:
            _show(report, out)
        if fail_on and report.worst() in {"error", fail_on.value}:
            out.exit_code = ExitCode.FINDINGS


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
    listed = sorted({handler.shown for job in jobs for handler in runnable(job)})
    return usage(
        "\n  ".join([f"--measure would run these {len(listed)} hooks, on {len(jobs)} kinds of call:", *listed]),
        hint=shlex.join([*again, "--yes"]),
        code="needs-yes",
    )


def _measure(
    files: list["Settings"], out: Output, allow_network: bool, payload: dict[str, Any] | None
) -> dict[tuple[str, str], "Measured"]:
    from overdeck.wiring.audit import runnable_jobs
    from overdeck.wiring.measure import RUNS, measure

    jobs = runnable_jobs(files)
    out.note(f"running the hooks of {len(jobs)} kinds of call, each {RUNS + 1} times")
    return measure(jobs, files, environ=os.environ, payload=payload, allow_network=allow_network)


def _show(report: "AuditReport", out: Output) -> None:
    for file in report.files:
        dropped = ": DROPPED by the client, none of them runs" if file.dropped else ""
        out.line(f"{file.path}: {_count(len(file.all_handlers), 'handler')}{dropped}")
    if len(report.files) > 1 or report.commands != report.handlers:
        out.line(f"{_count(report.handlers, 'handler')}, {_count(report.commands, 'different command')}")
    if report.disabled:
        out.line("disableAllHooks is on: nothing runs, so nothing costs")
    out.line()
    columns = ("", "hooks", "starts", "wall ms", "CPU ms", "stall", "sum", "source")
    rows = [_row(name, cost, out.room) for name, cost in report.moments.items()]
    rows += [
        _row(f"  {event} {tool}".removesuffix(" *"), cost, out.room)
        for event, tools in report.events.items()
        for tool, cost in tools.items()
        if cost.handlers
    ]
    out.table(columns, rows, right=columns[1:-1])
    out.line("stall: the longest timeout of one hook; sum: of all of them, one after the other")
    if any(cost.unknown for cost in report.moments.values()):
        out.line("≥: at least; a launcher whose cost is unknown (npx, uvx, …) is among them: --measure")
    _show_dispatcher(report, out)
    if report.findings:
        out.line()
    _show_findings(report, out)


def _show_dispatcher(report: "AuditReport", out: Output) -> None:
    """What the same moments cost through the native front, where that is less."""
    worth = [name for name, cost in report.dispatcher.items() if report.moments[name].starts > cost.starts > 0]
    if worth:
        out.line()
    for name in worth:
        today, then = report.moments[name], report.dispatcher[name]
        least = "at least " if today.unknown else ""
        out.line(f"{name}: today {_count(today.starts, 'start')}, {least}{today.cpu_ms:g} ms CPU ({today.source})")
        out.line(
            f"  as modules behind the native front: {_count(then.starts, 'start')}, {then.cpu_ms:g} ms CPU (model) "
            "when nothing acts;"
        )
        out.line(f"  {then.acting_starts} starts, about {then.acting_cpu_ms:g} ms CPU (model) when one acts")


def _show_findings(report: "AuditReport", out: Output) -> None:
    shown: Counter[tuple[str, Path]] = Counter()
    for finding in report.findings:
        shown[finding.rule, finding.file] += 1
        if shown[finding.rule, finding.file] <= ALIKE_SHOWN:
            out.line(f"{finding.severity}  {finding.rule}  {finding.file}#{finding.pointer}")
            out.line(f"    {finding.why}")
            out.line(f"    fix: {finding.fix}")
    for (rule, path), count in shown.items():
        if count > ALIKE_SHOWN:
            out.line(f"{count - ALIKE_SHOWN} more of {rule} in {path} not shown: --json lists all")
    errors = sum(finding.severity == "error" for finding in report.findings)
    out.line()
    out.line(f"{_count(errors, 'error')}, {_count(len(report.findings) - errors, 'warning')}")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _row(name: str, cost: "Cost", room: int) -> tuple[str, ...]:
    """A line of the table; on a terminal a long name is cut, with the dots that say so."""
    short = name if not room or len(name) <= NAME_SHOWN else name[: NAME_SHOWN - 1] + "…"
    return (
        short,
        str(cost.handlers),
        str(cost.starts),
        _milliseconds(cost.wall_ms, cost.unknown),
        _milliseconds(cost.cpu_ms, cost.unknown),
        _duration(cost.worst_stall_s),
        _duration(cost.sum_of_timeouts_s),
        cost.source if cost.handlers else "",
    )


def _milliseconds(value: float, unknown: int) -> str:
    shown = f"{value:.0f}" if value >= 100 else f"{value:g}"
    if not unknown:
        return shown
    return f"≥ {shown}" if value else "unknown"


def _duration(seconds: float) -> str:
    """A timeout in its own unit, long sums in hours.

    >>> _duration(90), _duration(900), _duration(98_580)
    ('90 s', '15 min', '27 h')
    """
    if seconds < 120:
        return f"{seconds:g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
