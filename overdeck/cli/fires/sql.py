"""``overdeck fires sql``."""

import csv
import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from overdeck.cli.fires.options import DEFAULT_SINCE, given
from overdeck.cli.output import JsonOption, verb
from overdeck.errors import usage
from overdeck.paths import Places


def sql(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="SQL, as DuckDB speaks it; times are UTC.")],
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Ask the tables yourself: fires, calls, runs, asked, modules, module_health, the counts per hour, and more.

    Reads the published copy, after taking in new log lines; it can neither write nor open any file.
    Example: overdeck fires sql "select module, sum(n) from fires_by_hour group by all"
    """
    _since, as_json = given(context, DEFAULT_SINCE, as_json)
    with verb("fires.sql", as_json) as out:
        from overdeck.telemetry.ingest import up_to_date
        from overdeck.telemetry.query import ask
        from overdeck.telemetry.words import iso, span

        if as_json and as_csv:
            raise usage("--json and --csv exclude each other", hint="overdeck fires sql QUERY --json")
        places = Places.from_environment()
        with up_to_date(places) as (published, warnings):
            answer = ask(places, query)
        age = max(timedelta(), datetime.now(UTC) - published.as_of)
        for warning in warnings:
            out.warn(warning)
        out.data = {
            "columns": list(answer.columns),
            "rows": [list(row) for row in answer.rows],
            "as_of": iso(published.as_of),
            "age_s": age.total_seconds(),
        }
        if as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(answer.columns)
            writer.writerows(answer.rows)
        elif answer.columns:
            out.table(answer.columns, [["" if v is None else str(v) for v in row] for row in answer.rows])
        out.note(f"{len(answer.rows):,} rows, data {span(age)} old")
