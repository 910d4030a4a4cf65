"""``overdeck uninstall``: our entries out of the client's settings."""

from overdeck.cli.install import ClientOption, DryRunOption, known_client, report
from overdeck.cli.output import JsonOption, verb
from overdeck.paths import Places


def uninstall(
    *, client: ClientOption = "claude", dry_run: DryRunOption = False, as_json: JsonOption = False
) -> None:
    """Take Overdeck out of the client's settings: the file is as it was. Plans, logs and modules stay."""
    with verb("uninstall", as_json) as out:
        name = known_client(client)
        from overdeck.wiring.install import uninstall as take_out

        outcome = take_out(Places.from_environment(), client=name, dry_run=dry_run)
        report(outcome, out)
        if not outcome.changed:
            out.line(f"nothing to remove: no entry of ours in {outcome.file}")
        elif dry_run:
            out.line(f"would remove {len(outcome.changes)} events (dry run: nothing was written)")
        elif outcome.after is None:
            out.line(f"removed {outcome.file}: install had made it, and nothing else was in it")
        else:
            out.line(f"removed {len(outcome.changes)} events from {outcome.file}")
