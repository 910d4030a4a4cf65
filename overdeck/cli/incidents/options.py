"""Options that several verbs share, and how a verb finds its registry."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from overdeck.incidents.registry import Registry

RegistryOption = Annotated[
    Path | None,
    typer.Option(
        "--registry",
        metavar="DIR",
        help="The registry's folder. Default: OVERDECK_REGISTRY, else incidents/ upwards from here, else the "
        "user's own in the state directory.",
    ),
]

RepoOption = Annotated[
    Path | None,
    typer.Option("--repo", metavar="DIR", help="Where the commits are. Default: the registry's repository."),
]

KeyOption = Annotated[
    str | None,
    typer.Option("--key", help="Your name for this call: a retry with the same key writes nothing."),
]


def find_registry(chosen: Path | None) -> "Registry":
    """The registry that a verb works on, as options, environment and cwd have it."""
    from overdeck.incidents import registry

    return registry.load(registry.locate(chosen, Path.cwd(), os.environ))
