"""``hookbench report [RAW.jsonl]``: what a raw record says, computed anew; without one, what the last ones said."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.bench.exports import ExportJsonOption, ExportMarkdownOption, PlotOption, SummaryOption
from overdeck.cli.bench.metric import MetricName
from overdeck.cli.bench.outcome import show_outcome
from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.bench.outcome import Metric

_AXIS = 31
"""Cells of the axis."""


def report(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RAW.jsonl]",
            help="What hookbench ab wrote, whole or cut short. Default: the last measurements, a line each.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ] = None,
    metric: Annotated[
        MetricName | None,
        typer.Option("--metric", help="Another metric than the measurement's carries the verdict."),
    ] = None,
    export_json: ExportJsonOption = None,
    export_markdown: ExportMarkdownOption = None,
    summary: SummaryOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Recompute the whole outcome of a measurement from its raw record; exit 4 where it was invalid.

    Example: hookbench report raw.jsonl --metric wall

    Without a record: the last measurements, their ratios as intervals on an axis, and the trend of each scenario.
    """
    from overdeck.bench.export import destinations, measured, write_exports
    from overdeck.bench.judge import judge
    from overdeck.bench.raw import read_raw
    from overdeck.errors import InvalidMeasurement

    with verb("report", as_json) as out:
        if not files:
            if export_json or export_markdown or summary or plot:
                raise usage(
                    "an export is of one measurement, and no record is named",
                    hint="hookbench report; each has its file",
                )
            _show_last(out, "cpu" if metric is None else metric.value)
            return
        if len(files) > 1:
            raise usage(
                f"{len(files)} records are {len(files)} measurements, which are never pooled: machines change",
                hint=f"hookbench report {files[0]}, and each of the others by itself",
            )
        wanted = destinations(
            json=export_json,
            markdown=export_markdown,
            summary=summary,
            plot=plot,
            taken={"the raw record": files[0]},
        )
        recording = read_raw(files[0])
        plan = recording.plan
        if metric is not None:
            recording.plan = replace(plan, metric=metric.value)
        out.note(
            f"{plan.started}, hookbench {plan.version}, seed {plan.seed}, {plan.machine.cpu_model}".rstrip(", ")
        )
        try:
            outcome = judge(recording)
        except InvalidMeasurement as invalid:
            invalid.data = {"verdict": "invalid", "arms": [], "seed": plan.seed}
            raise
        show_outcome(out, outcome)
        write_exports(measured(outcome), wanted)


def _show_last(out: Output, metric: "Metric") -> None:
    """What is kept in the cache, the newest first."""
    from datetime import UTC, datetime

    from overdeck.bench import runtables
    from overdeck.bench.lastruns import last_runs

    runs, _ = last_runs(Places.from_environment().cache)
    out.data = runtables.as_data(runs)
    rows = runtables.run_rows(runs, metric)
    if not rows:
        out.line(runtables.NO_RUNS)
        return
    on = runtables.row_axis(rows, metric, width=_AXIS)
    columns, now = runtables.columns(on, metric), datetime.now(UTC)
    out.table(
        [column.title for column in columns],
        [[column.text(row, now) for column in columns] for row in rows],
        right=[column.title for column in columns if column.right],
        below=columns[-1].title,
    )
    out.line(runtables.axis_line(on))
    for row in rows:
        if row.run.trouble and row.found is None:
            out.warn(f"{row.run.file}: {row.run.state}: {row.run.trouble}")
