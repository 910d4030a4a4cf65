"""``overdeck machine``: hooks at work now, and what the machine withholds from them."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from overdeck.cli.output import JsonOption, Output, verb
from overdeck.paths import Places

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from overdeck.column import Column


def machine(
    watch: Annotated[
        str,
        typer.Option("--watch", metavar="1s", help="How long counters are watched: what they grow by is shown."),
    ] = "1s",
    as_json: JsonOption = False,
) -> None:
    """Hook processes alive now, orphans, calls per second and cost per event, what tasks wait for. Changes nothing.

    What overdeck tui shows on its machine page, whether the machine is strained above all. Doctor looks at more.
    """
    from overdeck.machine.window import LONG_S
    from overdeck.wiring.atwork import tables
    from overdeck.wiring.atwork.document import as_data
    from overdeck.wiring.atwork.look import Source, begin, look
    from overdeck.wiring.doctor.visit import window
    from overdeck.wiring.scope import here

    with verb("machine", as_json) as out:
        seconds = window(watch, hint="overdeck machine --watch 1s")
        source = Source(Places.from_environment(), here())
        before = begin(source)
        if seconds >= LONG_S:
            out.note(f"watching the machine for {seconds:g} s")
        time.sleep(seconds)  # the window that was asked for
        found, _ = look(source, before)
        out.data = as_data(found)
        for sentence in (*found.unsaid, *found.problems):
            out.warn(sentence)
        out.line(tables.verdict_line(found))
        out.line(tables.machine_line(found))
        _table(out, tables.CHANGES, found.changes, found.at)
        out.line()
        out.line(tables.hooks_line(found))
        if found.hooks:
            _table(out, tables.HOOKS, found.hooks, found.at)
        out.line()
        out.line(tables.calls_line(found))
        if found.calls.events:
            out.line(tables.history_line(found))
            _table(out, tables.EVENTS, found.calls.events, found.at)


def _table(out: Output, columns: "Sequence[Column[Any]]", rows: "Sequence[Any]", now: "datetime") -> None:
    out.table(
        [column.title for column in columns],
        [[column.text(row, now) for column in columns] for row in rows],
        right=[column.title for column in columns if column.right],
    )
