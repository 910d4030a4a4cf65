"""``overdeck audit``: what the hooks cost, and which are broken."""

import os
import shlex
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import ExitCode, OverdeckError, usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.wiring.audit import AuditReport
    from overdeck.wiring.job import Measured
    from overdeck.wiring.settings import Settings


ALIKE_SHOWN = 3
"""Findings of one rule in one file before the rest is only counted."""


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
    payload: Annotated[
        Path | None, typer.Option("--payload", help="With --measure: the payload of the event it names.")
    ] = None,
    fail_on: Annotated[
        FailOn | None, typer.Option("--fail-on", help="Exit 1 at such a finding or a worse one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what your hooks cost per call, and what is wrong with them. Reads settings files; changes nothing."""
    with verb("audit", as_json) as out:
        from overdeck.payloadfile import read_payload
        from overdeck.wiring.audit import audit as judge
        from overdeck.wiring.settings import read_settings
        from overdeck.wiring.sources import claude_files

        places = Places.from_environment()
        files = [read_settings(path) for path in settings] if settings else claude_files(places, Path.cwd())
        measured = None
        if measure:
            given = read_payload(payload).document if payload else None
            if not yes:
                raise _needs_yes(files, settings or [], payload, allow_network)
            measured = _measure(files, out, allow_network, given)
        report = judge(files, home=places.home, user_dir=places.claude_dir.absolute(), measured=measured)
        out.data = report.as_data()
        if not files:
            out.warn("no settings file of Claude Code here: try --settings FILE")
        else:
            _show(report, out)
        if fail_on and report.worst() in {"error", fail_on.value}:
            out.exit_code = ExitCode.FINDINGS


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
        out.line(f"{file.path}: {len(file.all_handlers)} handlers{dropped}")
    out.line(f"{report.handlers} handlers, {report.commands} different commands")
    if report.disabled:
        out.line("disableAllHooks is on: nothing runs, so nothing costs")
    out.line()
    columns = ("", "handlers", "starts", "wall ms", "CPU ms", "worst stall", "sum of timeouts", "source")
    rows = [_row(name, cost) for name, cost in report.moments.items()]
    rows += [
        _row(f"  {event} {tool}".removesuffix(" *"), cost)
        for event, tools in report.events.items()
        for tool, cost in tools.items()
        if cost.handlers
    ]
    out.table(columns, rows, right=columns[1:-1])
    out.line()
    for name, cost in report.dispatcher.items():
        today = report.moments[name]
        if today.starts > cost.starts:
            out.line(
                f"{name}: {today.starts} starts, {today.cpu_ms:g} CPU ms today ({today.source}); as modules of "
                f"the dispatcher {cost.starts} and about {cost.cpu_ms:g} where one acts (model)"
            )
    out.line()
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
    out.line(f"{errors} errors, {len(report.findings) - errors} warnings")


def _row(name: str, cost: Any) -> tuple[str, ...]:
    return (
        name,
        str(cost.handlers),
        str(cost.starts),
        f"{cost.wall_ms:g}",
        f"{cost.cpu_ms:g}",
        _duration(cost.worst_stall_s),
        _duration(cost.sum_of_timeouts_s),
        cost.source if cost.handlers else "",
    )


def _duration(seconds: float) -> str:
    return f"{seconds:g} s" if seconds < 120 else f"{seconds / 60:.0f} min"
