"""``hookbench report RAW.jsonl``: what a raw record says, computed anew."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from overdeck.cli.bench.exports import ExportJsonOption, ExportMarkdownOption, PlotOption, SummaryOption
from overdeck.cli.bench.metric import MetricName
from overdeck.cli.bench.outcome import show_outcome
from overdeck.cli.output import JsonOption, verb
from overdeck.errors import usage


def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="RAW.jsonl",
            help="What hookbench ab wrote, whole or cut short.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ],
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
    """
    from overdeck.bench.export import destinations, measured, write_exports
    from overdeck.bench.judge import judge
    from overdeck.bench.raw import read_raw
    from overdeck.errors import InvalidMeasurement

    with verb("report", as_json) as out:
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
