"""``overdeck doctor``: does the wiring work, and if not, is it the machine?"""

from overdeck.cli.output import JsonOption, verb
from overdeck.cli.visits import GuardLogOption, PidOption, WatchOption, YesOption, run_visit
from overdeck.errors import ExitCode


def doctor(
    *,
    watch: WatchOption = None,
    pid: PidOption = None,
    guard_log: GuardLogOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Look at machine, output, launcher, wiring and modules, in this order. Exit 1 when a check fails.

    Changes nothing. Counters of the machine are judged by what they grow by while it watches.
    """
    with verb("doctor", as_json, looks_itself=True) as out:
        found = run_visit(out, watch=watch, pid=pid, guard_log=guard_log, yes=yes)
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
