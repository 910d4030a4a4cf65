"""``overdeck fires``: which modules ever act, and what to do about those that do not."""

import csv
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import not_found, usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overdeck.telemetry.report import ModuleRow, Report
    from overdeck.wiring.dossier import Dossier


class FiresGroup(TyperGroup):
    """The verbs below ``fires``; a word that is none of them is most likely a module's id."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As typer does; raises OverdeckError (usage) with the option that shows one module."""
        if args and self.get_command(ctx, args[0]) is None:
            raise usage(
                f"fires has no verb {args[0]!r}; it has {', '.join(sorted(self.commands))}",
                hint=f"overdeck fires --module {args[0]}, if a module is meant",
            )
        return super().resolve_command(ctx, args)


fires_app = typer.Typer(
    cls=FiresGroup,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

SinceOption = Annotated[str, typer.Option("--since", help="The window of the counts: 30m, 12h, 7d, 4w.")]
_DEFAULT_SINCE = "7d"


@dataclass(frozen=True)
class _Group:
    """Options given before a subcommand's name."""

    since: str
    as_json: bool


@fires_app.callback()
def fires(
    context: typer.Context,
    since: SinceOption = _DEFAULT_SINCE,
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
        context.obj = _Group(since, as_json)
        return
    with verb("fires", as_json) as out:
        from overdeck.telemetry.columns import column, details, sort_rows

        by = column(sort)
        if as_json and as_csv:
            raise usage("--json and --csv exclude each other", hint="overdeck fires --json")
        places = Places.from_environment()
        whole = as_json or as_csv or everything or module is not None
        found, known = _report(
            out, places, since, event=event, everything=everything, rebuild=rebuild, whole=whole, module=module
        )
        modules, hooks = _only(found, module)
        rows = sort_rows([*modules, *(hooks if everything or not modules else ())], by)
        out.data = {**_data(found, sort_rows(modules, by)), "hooks": _records(sort_rows(hooks, by))}
        if known is not None:
            out.data |= _beyond(known)
        if as_csv:
            _print_csv(rows)
            out.note(_age(found))
            return
        _print_table(out, found, rows)
        if module is not None:
            for line in details(rows[0], found.now):
                out.line(f"{module}: {line}")
        _print_close(out, found, rows)


@fires_app.command("suspects")
def suspects(context: typer.Context, since: SinceOption = _DEFAULT_SINCE, as_json: JsonOption = False) -> None:
    """Show only the modules that ask for a decision: broken, unreachable, dead, silent."""
    since, as_json = _given(context, since, as_json)
    with verb("fires.suspects", as_json) as out:
        from overdeck.telemetry.columns import column, sort_rows
        from overdeck.telemetry.verdict import SUSPECTS

        found, _ = _report(out, Places.from_environment(), since, whole=as_json)
        rows = sort_rows((row for row in found.rows if row.verdict in SUSPECTS), column("verdict"))
        out.data = _data(found, rows)
        if as_json:
            out.data["hooks"] = _records(row for row in found.hooks if row.verdict in SUSPECTS)
        if rows:
            _print_table(out, found, rows)
        else:
            out.line(_no_suspect(found))
        _print_close(out, found, rows)


@fires_app.command("candidates")
def candidates(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show the modules that may go, and what to type. Nothing is ever removed for you."""
    _since, as_json = _given(context, _DEFAULT_SINCE, as_json)
    with verb("fires.candidates", as_json) as out:
        from dataclasses import asdict

        from overdeck.telemetry.removal import removal

        places = Places.from_environment()
        found, _ = _report(out, places, _DEFAULT_SINCE, whole=as_json)
        rows = [row for row in found.rows if row.verdict == "removal-candidate"]
        steps = {row.id: asdict(removal(places, row)) for row in rows}
        out.data = {
            **_data(found, rows),
            "modules": [{**record, "remove": steps[str(record["id"])]} for record in _records(rows)],
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
        _print_close(out, found, rows)


@fires_app.command("keep")
def keep(
    context: typer.Context,
    module_id: Annotated[str, typer.Argument(metavar="ID", help="A module's id.")],
    because: Annotated[str, typer.Option("--because", help="Why it stays although it is silent.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Take the word back.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Give a module your word that it stays: its verdict is then "exempt", with your reason and today's date."""
    _since, as_json = _given(context, _DEFAULT_SINCE, as_json)
    with verb("fires.keep", as_json) as out:
        from overdeck.authoring.inventory import find
        from overdeck.telemetry import keep as keep_list

        places = Places.from_environment()
        if undo:
            if not keep_list.let_go(places, module_id):
                raise not_found(f"nobody gave a word for {module_id}", hint="overdeck fires")
            out.data = {"id": module_id, "keep": None}
            out.line(f"{module_id} is judged like the others again")
            return
        find(places, module_id)
        if not because.strip():
            raise usage(
                f"why does {module_id} stay? Give the reason with --because",
                hint=f'overdeck fires keep {module_id} --because "…"',
            )
        word = keep_list.keep(places, module_id, because.strip(), datetime.now(UTC))
        file = keep_list.keep_file(places)
        out.data = {"id": module_id, "keep": {"because": word.because, "date": word.date}, "file": str(file)}
        out.line(f"{module_id} is exempt from now on: {word}")
        out.note(f"written to {file}; to take it back: overdeck fires keep {module_id} --undo")


@fires_app.command("sql")
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
    _since, as_json = _given(context, _DEFAULT_SINCE, as_json)
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


def _given(context: typer.Context, since: str, as_json: bool) -> tuple[str, bool]:
    """A subcommand's options, with those given before its name where it has none of its own."""
    group = context.obj
    if not isinstance(group, _Group):
        return since, as_json
    return (group.since if since == _DEFAULT_SINCE else since), (as_json or group.as_json)


def _report(
    out: Output,
    places: Places,
    since: str,
    *,
    event: str | None = None,
    everything: bool = False,
    rebuild: bool = False,
    whole: bool = False,
    module: str | None = None,
) -> "tuple[Report, Dossier | None]":
    """The report, with all that costs more where it is ``whole``; then with more about one ``module``, where it is."""
    from overdeck.dispatch.matchers import CLAUDE_EVENTS
    from overdeck.telemetry.ingest import up_to_date
    from overdeck.telemetry.report import report
    from overdeck.telemetry.words import parse_since

    window = parse_since(since)
    if event is not None and event not in CLAUDE_EVENTS:
        raise usage(f"there is no event {event!r}: one of {', '.join(CLAUDE_EVENTS)}", hint="overdeck fires")
    known = None
    with up_to_date(places, rebuild=rebuild) as (published, warnings):
        found = report(places, published, since=window, event=event, everything=everything, whole=whole)
        if whole:
            from overdeck.wiring.dossier import dossier
            from overdeck.wiring.unadopted import with_hooks

            found = with_hooks(found, places, published, Path.cwd())
            chosen = next((row for row in found.all_rows if row.id == module), None)
            known = dossier(places, published, chosen, found.now) if chosen is not None else None
    for warning in dict.fromkeys([*warnings, *found.warnings]):
        out.warn(warning)
    return found, known


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


def _records(rows: "Iterable[ModuleRow]") -> list[dict[str, object]]:
    from overdeck.telemetry.columns import as_record

    return [as_record(row) for row in rows]


def _data(found: "Report", rows: "Sequence[ModuleRow]") -> dict[str, object]:
    from overdeck.telemetry.words import iso

    return {
        "modules": _records(rows),
        "since_s": found.since.total_seconds(),
        "event": found.event,
        "as_of": iso(found.as_of),
        "age_s": max(0.0, (found.now - found.as_of).total_seconds()),
        "logged": found.logged,
    }


def _print_table(out: Output, found: "Report", rows: "Sequence[ModuleRow]") -> None:
    from overdeck.telemetry.columns import COLUMNS

    out.table(
        [column.title for column in COLUMNS],
        [[column.text(row, found.now) for column in COLUMNS] for row in rows],
        right=[column.title for column in COLUMNS if column.right],
        below="why",
    )


def _print_close(out: Output, found: "Report", rows: "Sequence[ModuleRow]") -> None:
    """How many modules of how many, and the age of the data."""
    from overdeck.telemetry.words import span

    if not found.logged:
        out.line(
            "No hook has logged anything yet. Next: overdeck install; where that was done, a call in the client"
        )
    modules = sum(row.adopted for row in rows)
    shown = f"{modules} of {len(found.rows)} modules"
    if len(rows) > modules:
        shown += f" and {len(rows) - modules} hooks that are none"
    out.line(f"{shown}, counts of the last {span(found.since)}, {_age(found)}")


def _age(found: "Report") -> str:
    from overdeck.telemetry.words import span

    return f"data {span(found.now - found.as_of)} old"


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
