"""What ``--yes`` means: the plan is shown either way, and run only with it."""

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from overdeck.cli.output import Output

YesOption = Annotated[
    bool,
    typer.Option(
        "--yes", help="Run what is listed. Without it tests and programs are listed, and nothing is run."
    ),
]


def consent_of(out: Output, yes: bool) -> Callable[[Sequence[str]], bool]:
    """The consent of somebody at a command line, who has said so beforehand or not at all."""

    def consent(plan: Sequence[str]) -> bool:
        out.note("to be run:" if not yes else "running:")
        for line in plan:
            out.note(f"  {line}")
        return yes

    return consent
