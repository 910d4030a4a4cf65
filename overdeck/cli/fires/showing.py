"""The report that every verb of ``fires`` shows: made, as a table, and as it stands in JSON."""

from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.cli.output import Output
from overdeck.errors import usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overdeck.telemetry.report import ModuleRow, Report
    from overdeck.wiring.dossier import Dossier


def report(
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
        near = next((name for name in CLAUDE_EVENTS if name.lower() == event.lower()), "PreToolUse")
        raise usage(
            f"there is no event {event!r}: one of {', '.join(CLAUDE_EVENTS)}",
            hint=f"overdeck fires --event {near}",
        )
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


def records(rows: "Iterable[ModuleRow]") -> list[dict[str, object]]:
    """Rows as JSON carries them."""
    from overdeck.telemetry.columns import as_record

    return [as_record(row) for row in rows]


def data(found: "Report", rows: "Sequence[ModuleRow]") -> dict[str, object]:
    """``data`` of the envelope: rows, window and age of the counts."""
    from overdeck.telemetry.words import iso

    return {
        "modules": records(rows),
        "since_s": found.since.total_seconds(),
        "event": found.event,
        "as_of": iso(found.as_of),
        "age_s": max(0.0, (found.now - found.as_of).total_seconds()),
        "logged": found.logged,
    }


def print_table(out: Output, found: "Report", rows: "Sequence[ModuleRow]") -> None:
    """The columns that everybody sees; why stands below a row where it has no room."""
    from overdeck.telemetry.columns import COLUMNS

    out.table(
        [column.title for column in COLUMNS],
        [[column.text(row, found.now) for column in COLUMNS] for row in rows],
        right=[column.title for column in COLUMNS if column.right],
        below="why",
    )


def print_close(out: Output, found: "Report", rows: "Sequence[ModuleRow]") -> None:
    """How many modules of how many, and the age of the data."""
    from overdeck.telemetry.words import span

    if not found.logged:
        out.line(
            "No hook has logged anything yet. Next: overdeck install; where that was done, a call in the client"
        )
    modules = sum(row.adopted for row in rows)
    shown = f"{modules} of {len(found.rows)} modules"
    if len(rows) > modules:
        others = len(rows) - modules
        shown += f" and {others} {'hook that is' if others == 1 else 'hooks that are'} none"
    out.line(f"{shown}, counts of the last {span(found.since)}, {age(found)}")


def age(found: "Report") -> str:
    """How old the counts are, in words."""
    from overdeck.telemetry.words import span

    return f"data {span(found.now - found.as_of)} old"
