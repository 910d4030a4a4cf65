"""What ``overdeck doctor`` and ``od-incidents triage`` share: the options of a visit, and its run."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.output import Output
from overdeck.errors import not_found, usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.wiring.doctor.visit import Visit

WatchOption = Annotated[
    str | None,
    typer.Option("--watch", metavar="30s", help="How long the machine is watched. Default: 200ms."),
]
PidOption = Annotated[
    list[int] | None,
    typer.Option(
        "--pid",
        metavar="PID",
        help="Look at this process's control groups, too: the session that stalls. May be repeated.",
    ),
]
GuardLogOption = Annotated[
    list[Path] | None,
    typer.Option("--guard-log", metavar="FILE", help="The log of a process guard, for its KILL lines."),
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Run your own modules' tests and your hooks' interpreters, too.")
]


def run_visit(
    out: Output, *, watch: str | None, pid: list[int] | None, guard_log: list[Path] | None, yes: bool
) -> "Visit":
    """Make the visit that the options ask for; a long window is announced.

    Raises OverdeckError for a process that is not there (3) and a log that cannot be read (2).
    """
    import psutil

    from overdeck.machine.window import LONG_S
    from overdeck.wiring.doctor.visit import SHORT_S, visit, window

    for one in pid or ():
        if not psutil.pid_exists(one):
            raise not_found(
                f"there is no process {one}", code="no-such-process", hint="ps -eo pid,args | grep claude"
            )
    for log in guard_log or ():
        if not os.access(log, os.R_OK):
            raise usage(f"{log} cannot be read", hint=f"ls -l {log}")
    window_s = SHORT_S if watch is None else window(watch)
    if window_s >= LONG_S:
        out.note(f"watching the machine for {window_s:g} s")
    return visit(
        Places.from_environment(),
        os.environ,
        window_s=window_s,
        pids=tuple(pid or ()),
        guard_logs=tuple(guard_log or ()),
        yes=yes,
    )
