"""``overdeck plugins block``."""

from typing import Annotated

import typer

from overdeck.cli.install import DryRunOption
from overdeck.cli.output import JsonOption, verb
from overdeck.cli.plugins.remove import say
from overdeck.paths import Places

UNREAD = (
    "Claude Code 2.1.197 does not read plugins/blocklist.json (measured): what no settings file switches on stays off "
    "there, and only an administrator's settings forbid it for good"
)


def block(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A plugin's id, NAME@MARKETPLACE; it need not be installed.")
    ],
    *,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Put a plugin into the client's plugins/blocklist.json. What is on now stays on: overdeck plugins remove.

    Not every version of the client reads that file: Claude Code 2.1.197 does not.
    """
    from overdeck.wiring.plugins.ledger import Ledger
    from overdeck.wiring.plugins.removal import block as keep_out
    from overdeck.wiring.scope import here

    with verb("plugins.block", as_json) as out:
        ledger = Ledger(Places.from_environment(), here())
        done = keep_out(ledger, name, dry_run=dry_run)
        say(done, out)
        for file in next((plugin.on_in for plugin in ledger.plugins() if plugin.id == done.plugin), ()):
            out.warn(f"{file} switches {done.plugin} on; to take it out: overdeck plugins remove {done.plugin}")
        out.warn(UNREAD)
        if not done.changed:
            out.line(f"{done.plugin} is blocked already")
        elif dry_run:
            out.line(f"would block {done.plugin} (dry run: nothing was written)")
        else:
            out.line(f"blocked {done.plugin}")
