"""``overdeck fires candidates``."""

from typing import TYPE_CHECKING

import typer

from overdeck.cli.fires.options import DEFAULT_SINCE, given
from overdeck.cli.fires.showing import data, print_close, records, report
from overdeck.cli.output import JsonOption, verb
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.telemetry.report import Report


def candidates(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show the modules that may go, and what to type. Nothing is ever removed for you."""
    _since, as_json = given(context, DEFAULT_SINCE, as_json)
    with verb("fires.candidates", as_json) as out:
        from dataclasses import asdict

        from overdeck.telemetry.removal import removal

        places = Places.from_environment()
        found, _ = report(out, places, DEFAULT_SINCE, whole=as_json)
        rows = [row for row in found.rows if row.verdict == "removal-candidate"]
        steps = {row.id: asdict(removal(places, row)) for row in rows}
        out.data = {
            **data(found, rows),
            "modules": [{**record, "remove": steps[str(record["id"])]} for record in records(rows)],
        }
        for row in rows:
            todo = steps[row.id]
            out.line(f"{row.id}: {row.why}")
            out.line(f"  does it still act?   {todo['test']}")
            out.line(f"  to keep it           {todo['keep']}")
            out.line(f"  to remove it, put into {todo['file']}:")
            for line in todo["toml"].splitlines():
                out.line(f"    {line}")
            out.line()
        if not rows:
            out.line(_no_candidate(found))
        print_close(out, found, rows)


def _no_candidate(found: "Report") -> str:
    """Instead of no candidates: what that means, and what to type."""
    from overdeck.telemetry.verdict import REMOVAL_DAYS, SUSPECTS

    if not found.rows:
        return "No module is switched on, so none can go. Next: overdeck hooks list"
    none = f"No module is a candidate for removal: none was silent for {REMOVAL_DAYS} days or more though asked"
    suspect = sum(row.verdict in SUSPECTS for row in found.rows)
    if suspect:
        return f"{none}; {suspect} of {len(found.rows)} are suspect: overdeck fires suspects"
    return f"{none}. There is nothing to do."
