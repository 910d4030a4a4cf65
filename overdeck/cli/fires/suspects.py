"""``overdeck fires suspects``."""

from typing import TYPE_CHECKING

import typer

from overdeck.cli.fires.options import DEFAULT_SINCE, SinceOption, given
from overdeck.cli.fires.showing import data, print_close, print_table, records, report
from overdeck.cli.output import JsonOption, verb
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.telemetry.report import Report


def suspects(context: typer.Context, since: SinceOption = DEFAULT_SINCE, as_json: JsonOption = False) -> None:
    """Show only the modules that ask for a decision: broken, unreachable, dead, silent, failing their own test."""
    since, as_json = given(context, since, as_json)
    with verb("fires.suspects", as_json) as out:
        from overdeck.telemetry.advice import asks
        from overdeck.telemetry.columns import column, sort_rows

        found, _ = report(out, Places.from_environment(), since, whole=as_json)
        rows = sort_rows((row for row in found.rows if asks(row)), column("verdict"))
        out.data = data(found, rows)
        if as_json:
            out.data["hooks"] = records(row for row in found.hooks if asks(row))
        if rows:
            print_table(out, found, rows)
        else:
            out.line(_no_suspect(found))
        print_close(out, found, rows)


def _no_suspect(found: "Report") -> str:
    """Instead of an empty table of suspects: what that means, and what to type."""
    if not found.rows:
        return "No module is switched on, so none is suspect. Next: overdeck hooks list"
    verdicts = [row.verdict for row in found.rows]
    open_ = {"immature": "too young to be judged", "unknown": "not judged for want of a log or of calls"}
    parts = [
        f"{verdicts.count(v)} of {len(verdicts)} are {v} ({why})" for v, why in open_.items() if v in verdicts
    ]
    if not parts:
        return "No module is suspect: there is nothing to do."
    return f"No module is suspect; {', '.join(parts)}. Which and why: overdeck fires"
