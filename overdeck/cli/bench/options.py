"""The options that several verbs have, spelt once."""

from typing import Annotated

import typer

SeedOption = Annotated[int | None, typer.Option("--seed", help="Repeat the random choices of an earlier run.")]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", help="Seconds one run may take; then its whole tree is killed.")
]
EnvOption = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="KEY=VALUE", help="Add to an arm's environment, which starts almost empty."),
]
