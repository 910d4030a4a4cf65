"""``overdeck fires`` itself: the table, or one module in full."""

import csv
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.fires.options import DEFAULT_SINCE, Before, SinceOption
from overdeck.cli.fires.showing import age, data, print_close, print_table, records, report
from overdeck.cli.output import JsonOption, verb
from overdeck.errors import not_found, usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overdeck.telemetry.report import ModuleRow, Report
    from overdeck.wiring.dossier import Dossier


def fires(
    context: typer.Context,
    since: SinceOption = DEFAULT_SINCE,
    module: Annotated[str | None, typer.Option("--module", help="Only this module.")] = None,
    event: Annotated[
        str | None, typer.Option("--event", help="Only modules of this event, and only its calls.")
    ] = None,
    sort: Annotated[str, typer.Option("--sort", metavar="COLUMN", help="Order by this column.")] = "verdict",
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also modules that are not switched on any more, and hooks of settings that are no modules.",
        ),
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="First make the whole database again from the logs.")
    ] = False,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV: the keys of --json.")] = False,
) -> None:
    """Show what each module was asked, what it did, and the verdict. Takes in new log lines first.

    The window is for the counts; silence is judged over each module's own lifetime. Fired is all that a module did:
    deny, advise (a gate's question to you, ask, is logged as that) and act; --module tells them apart, and shows
    times, share, context and canary. --sort takes the keys of --json as well.
    """
    if context.invoked_subcommand:
        context.obj = Before(since, as_json)
        return
    with verb("fires", as_json) as out:
        from overdeck.telemetry.columns import column, details, sort_rows

        by = column(sort)
        if as_json and as_csv:
            raise usage("--json and --csv exclude each other", hint="overdeck fires --json")
        places = Places.from_environment()
        whole = as_json or as_csv or everything or module is not None
        found, known = report(
            out, places, since, event=event, everything=everything, rebuild=rebuild, whole=whole, module=module
        )
        modules, hooks = _only(found, module)
        rows = sort_rows([*modules, *(hooks if everything or not modules else ())], by)
        out.data = {**data(found, sort_rows(modules, by)), "hooks": records(sort_rows(hooks, by))}
        if known is not None:
            out.data |= _beyond(known)
        if as_csv:
            _print_csv(rows)
            out.note(age(found))
            return
        print_table(out, found, rows)
        if module is not None:
            for line in details(rows[0], found.now):
                out.line(f"{module}: {line}")
        print_close(out, found, rows)


def _beyond(known: "Dossier") -> dict[str, object]:
    """What only one module's document holds."""
    from dataclasses import asdict

    from overdeck.telemetry.words import iso

    return {
        "fires": [{**asdict(fire), "ts": iso(fire.ts)} for fire in known.fires],
        "failures": [failure._asdict() for failure in known.failures],
        "costs": [{**asdict(cost), "day": cost.day.isoformat()} for cost in known.costs],
    }


def _only(found: "Report", module: str | None) -> "tuple[Sequence[ModuleRow], Sequence[ModuleRow]]":
    """Modules and hooks: all of them, or the one that was asked for."""
    if module is None:
        return found.rows, found.hooks
    modules = [row for row in found.rows if row.id == module]
    hooks = [row for row in found.hooks if row.id == module]
    if not modules and not hooks:
        ids = [row.id for row in found.rows]
        raise not_found(
            f"no module {module!r} is switched on: {', '.join(ids) or 'none is'}",
            code="no-such-module",
            hint="overdeck fires --all",
            data={"candidates": ids},
        )
    return modules, hooks


def _print_csv(rows: "Sequence[ModuleRow]") -> None:
    from overdeck.telemetry.columns import RECORD, as_record

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(RECORD)
    for row in rows:
        record = as_record(row) | {
            "events": " ".join(name for name, _matcher in row.events),
            "daily": " ".join(map(str, row.daily)),
            "wired": " ".join(f"{place.file}#{place.pointer}" for place in row.wired),
        }
        writer.writerow(record.values())
