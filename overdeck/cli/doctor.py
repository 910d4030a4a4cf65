"""``overdeck doctor``: does the wiring work?"""

import os

from overdeck.cli.output import JsonOption, verb
from overdeck.errors import ExitCode
from overdeck.paths import Places


def doctor(*, as_json: JsonOption = False) -> None:
    """Look at machine, launcher, wiring and modules, in this order. Exit 1 when a check fails. Changes nothing."""
    with verb("doctor", as_json) as out:
        from overdeck.authoring.fleet import recipe_for
        from overdeck.wiring.doctor import CHECKS, Situation, run

        places = Places.from_environment()
        reports = run(CHECKS, Situation(places, recipe_for(places), os.environ))
        failed = sum(report.state == "fail" for report in reports)
        out.data = {"checks": [report._asdict() for report in reports], "failed": failed}
        out.table(
            ("check", "state", "seen"),
            [(report.name, report.state, report.seen) for report in reports],
            below="seen",
        )
        for report in reports:
            if report.next and report.state in ("fail", "warn"):
                out.line(f"{report.name}: next: {report.next}")
        if failed:
            out.exit_code = ExitCode.FINDINGS
