"""``hookbench gate``: has this tree become dearer than the pinned base?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.bench.interrupt import signals_unwind
from overdeck.cli.bench.options import SeedOption
from overdeck.cli.bench.progress import progress
from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import ExitCode

if TYPE_CHECKING:
    from overdeck.bench.gate.run import GateOutcome


def gate(
    *,
    config: Annotated[Path, typer.Option("--config", help="What to measure, and how much is tolerated.")] = Path(
        "bench/gate.toml"
    ),
    base: Annotated[
        str | None, typer.Option("--base", metavar="REV", help="Compare with this commit, not the pinned one.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 5 when it stays unclear, or a scenario of base's is gone.")
    ] = False,
    pairs_cap: Annotated[int, typer.Option("--pairs-cap", help="The most blocks of one batch (16 to 80).")] = 80,
    seed: SeedOption = None,
    summary: Annotated[
        Path | None,
        typer.Option("--summary", metavar="FILE", help="Append the outcome as Markdown: a CI step summary."),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE", help="Write JUnit XML: a case a scenario and metric."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Build the base and this tree side by side and fail where a scenario got dearer than tolerated.

    Needs a base, a whole commit name pinned in bench/gate.toml; builds it twice (the copy shows what this machine makes
    out of nothing) and this tree once.

    Exit 0 pass or (without --strict) inconclusive, 1 fail, 4 invalid: nothing that was not measured passes.
    """
    from overdeck.bench.blocks import draw_seed
    from overdeck.bench.gate.config import read_gate_config
    from overdeck.bench.gate.report import as_data, reports
    from overdeck.bench.gate.run import run_gate
    from overdeck.errors import InvalidMeasurement

    with verb("gate", as_json, outlives_reader=True) as out, signals_unwind():
        chosen = draw_seed() if seed is None else seed
        out.note(f"seed {chosen}")
        with reports(summary, junit, config) as files:
            try:
                outcome = run_gate(
                    read_gate_config(config),
                    seed=chosen,
                    base=base,
                    pairs_cap=pairs_cap,
                    note=out.note,
                    follow=lambda names, pairs: progress(names, pairs, "cpu", until_decided=False),
                )
            except InvalidMeasurement as invalid:
                invalid.data = {"verdict": "invalid", "seed": chosen, "scenarios": []}
                raise
            files.finish(outcome)
        for warning in outcome.warnings:
            out.warn(warning)
        out.data = as_data(outcome)
        _show(out, outcome)
        _conclude(out, outcome, strict=strict)


def _conclude(out: Output, outcome: "GateOutcome", *, strict: bool) -> None:
    """The exit code; raises InvalidMeasurement for an outcome that is."""
    from overdeck.errors import InvalidMeasurement

    if outcome.verdict == "invalid":
        reasons = "; ".join(f"{row.name}: {row.reason}" for row in outcome.scenarios if row.verdict == "invalid")
        raise InvalidMeasurement(
            f"the gate is INVALID: {reasons}",
            code="invalid-scenario",
            hint="mend the scenario or the side it names; until then nothing has passed",
            data=out.data,
        )
    if outcome.verdict == "fail":
        out.exit_code = ExitCode.FINDINGS
    elif outcome.verdict == "inconclusive":
        out.warn("the gate is inconclusive: run it again on a quieter machine, or widen the tolerance")
    if strict and outcome.verdict != "fail" and (outcome.verdict == "inconclusive" or outcome.dropped):
        out.exit_code = ExitCode.UNVERIFIABLE


def _show(out: Output, outcome: "GateOutcome") -> None:
    from overdeck.bench.gate.report import COLUMNS, NUMERIC, reasons, rows

    names = ", ".join(row.name for row in outcome.scenarios if row.verdict == outcome.verdict)
    gone = f"; no longer measured: {', '.join(outcome.dropped)}" if outcome.dropped else ""
    out.line(f"{outcome.verdict.upper()} against base {outcome.base[:12]}: {names}{gone}")
    out.line()
    out.table(COLUMNS, rows(outcome), right=NUMERIC)
    for reason in reasons(outcome):
        out.line(reason)
