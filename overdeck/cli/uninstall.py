"""``overdeck uninstall``: our entries out of the client's settings."""

from overdeck.cli.install import ClientOption, DryRunOption, Scope, ScopeOption, known_client, report
from overdeck.cli.output import JsonOption, verb
from overdeck.paths import Places
from overdeck.plural import counted


def uninstall(
    *,
    client: ClientOption = "claude",
    scope: ScopeOption = Scope.user,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Take Overdeck out of the client's settings: the file is as it was. Plans, logs and modules stay."""
    with verb("uninstall", as_json, looks_itself=True) as out:
        name = known_client(client)
        from overdeck.wiring.adopt.undoing import refuse_adopted
        from overdeck.wiring.install import uninstall as take_out
        from overdeck.wiring.opencodeplugin import uninstall as take_plugin_out
        from overdeck.wiring.scope import here, settings_file

        places = Places.from_environment()
        if name == "opencode":
            change = take_plugin_out(places, scope=scope.value, dry_run=dry_run)
        else:
            refuse_adopted(places, settings_file(places, scope.value, here(), name))
            change = take_out(places, client=name, scope=scope.value, dry_run=dry_run)
        report(change, out)
        if not change.changed:
            out.line(f"nothing to remove: no entry of ours in {change.file}")
        elif dry_run:
            out.line(f"would remove {counted(len(change.changes), 'event')} (dry run: nothing was written)")
        elif change.after is None:
            out.line(f"removed {change.file}: install had made it, and nothing else was in it")
        else:
            out.line(f"removed {counted(len(change.changes), 'event')} from {change.file}")
        for other in change.elsewhere:
            out.line(f"still there: entries of ours in {other} (--scope takes them out)")
