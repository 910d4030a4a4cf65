"""An outcome as ``ab`` and ``report`` print it."""

from typing import TYPE_CHECKING

from overdeck.cli.output import Output

if TYPE_CHECKING:
    from overdeck.bench.outcome import Comparison


def show_outcome(out: Output, outcome: "Comparison") -> None:
    """The doubts on stderr; the sentence, the arms and the ratios on stdout; the data of ``--json``."""
    from overdeck.bench import report

    for warning in outcome.warnings:
        out.warn(warning)
    out.line(report.sentence(outcome))
    out.line()
    out.table(report.ARM_COLUMNS, report.arm_rows(outcome), right=report.ARM_NUMERIC, below=report.ARM_COLUMNS[-1])
    out.line()
    out.table(report.COLUMNS, report.rows(outcome), right=report.NUMERIC)
    if outcome.self_check:
        out.line()
        out.line(report.self_check_sentence(outcome))
    for hint in report.hints(outcome):
        out.line(f"hint: {hint}")
    out.data = report.as_data(outcome)
