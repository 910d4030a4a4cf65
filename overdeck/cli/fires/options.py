"""What the verbs below ``fires`` share: its options may stand before a verb's name, too."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from overdeck.errors import usage

SinceOption = Annotated[str, typer.Option("--since", help="The window of the counts: 30m, 12h, 7d, 4w.")]
DEFAULT_SINCE = "7d"


@dataclass(frozen=True)
class Before:
    """Options given before a subcommand's name."""

    since: str
    as_json: bool


def given(context: typer.Context, since: str, as_json: bool) -> tuple[str, bool]:
    """A subcommand's options, with those given before its name where it has none of its own."""
    group = context.obj
    if not isinstance(group, Before):
        return since, as_json
    return (group.since if since == DEFAULT_SINCE else since), (as_json or group.as_json)


class FiresGroup(TyperGroup):
    """The verbs below ``fires``; a word that is none of them is most likely a module's id."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As typer does; raises OverdeckError (usage) with the option that shows one module."""
        if args and self.get_command(ctx, args[0]) is None:
            raise usage(
                f"fires has no verb {args[0]!r}; it has {', '.join(sorted(self.commands))}",
                hint=f"overdeck fires --module {args[0]}, if a module is meant",
            )
        return super().resolve_command(ctx, args)
