"""``overdeck plugins block``."""

from typing import Annotated

import typer

from overdeck.cli.install import DryRunOption
from overdeck.cli.output import JsonOption, verb
from overdeck.cli.plugins.remove import say
from overdeck.paths import Places


def block(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A plugin's id, NAME@MARKETPLACE; it need not be installed.")
    ],
    *,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Keep a plugin from coming back: off in your settings, and in the client's plugins/blocklist.json.

    Versions of the client that read no blocklist go by the settings. A project's settings can still switch it on:
    overdeck plugins remove mends those that are there today.
    """
    from overdeck.wiring.plugins.ledger import Ledger
    from overdeck.wiring.plugins.removal import block as keep_out
    from overdeck.wiring.scope import here

    with verb("plugins.block", as_json) as out:
        done = keep_out(Ledger(Places.from_environment(), here()), name, dry_run=dry_run)
        say(done, out)
        if not done.changed:
            out.line(f"{done.plugin} is blocked already")
        elif dry_run:
            out.line(f"would block {done.plugin} in {len(done.files)} files (dry run: nothing was written)")
        else:
            out.line(f"blocked {done.plugin} in {len(done.files)} files")
