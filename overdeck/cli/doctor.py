"""``overdeck doctor``: does the wiring work, and if not, is it the machine?"""

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.output import JsonOption, verb
from overdeck.cli.probe import AllowNetworkOption
from overdeck.cli.visits import GuardLogOption, PidOption, WatchOption, YesOption, run_visit
from overdeck.errors import ExitCode, usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.wiring.doctor.check import Report


def doctor(
    *,
    watch: WatchOption = None,
    pid: PidOption = None,
    guard_log: GuardLogOption = None,
    yes: YesOption = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Play the wiring in the clients themselves, too: overdeck probe, for each wired."
        ),
    ] = False,
    allow_network: AllowNetworkOption = False,
    as_json: JsonOption = False,
) -> None:
    """Look at machine, output, launcher, wiring and modules, in this order. Exit 1 when a check fails.

    Changes nothing. Counters of the machine are judged by what they grow by while it watches.
    """
    with verb("doctor", as_json, looks_itself=True) as out:
        if allow_network and not live:
            raise usage("--allow-network says nothing without --live", hint="overdeck doctor --live")
        found = run_visit(out, watch=watch, pid=pid, guard_log=guard_log, yes=yes)
        if live:
            found = replace(found, reports=(*found.reports, *_live(yes, allow_network)))
        out.data = found.facts
        out.table(
            ("check", "state", "seen"),
            [(report.name, report.state, report.seen) for report in found.reports],
            below="seen",
        )
        for report in found.reports:
            if report.next and report.state in ("fail", "warn"):
                out.line(f"{report.name}: next: {report.next}")
        if found.failed:
            out.exit_code = ExitCode.FINDINGS


def _live(yes: bool, allow_network: bool) -> "list[Report]":
    from overdeck.probe.live import live
    from overdeck.wiring.scope import here

    return live(Places.from_environment(), os.environ, here(), yes=yes, allow_network=allow_network)
