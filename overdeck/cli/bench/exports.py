"""The files that ``ab`` and ``report`` can write an outcome to."""

from pathlib import Path
from typing import Annotated

import typer

ExportJsonOption = Annotated[
    Path | None,
    typer.Option("--export-json", metavar="FILE", help="The runs in hyperfine's JSON shape, for its scripts."),
]
ExportMarkdownOption = Annotated[
    Path | None, typer.Option("--export-markdown", metavar="FILE", help="The outcome as a Markdown page.")
]
SummaryOption = Annotated[
    Path | None,
    typer.Option(
        "--summary", metavar="FILE", help="Append the outcome to a CI job's page ($GITHUB_STEP_SUMMARY)."
    ),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE.svg|png", help="A picture of every pair and of all times (needs the extra plot)."
    ),
]
