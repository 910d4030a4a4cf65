"""``overdeck plugins list``."""

from overdeck.cli.output import JsonOption, verb
from overdeck.paths import Places


def list_plugins(as_json: JsonOption = False) -> None:
    """List every plugin that the client's files name: on, off, blocked or unset; who says so; where it is."""
    from overdeck.wiring.plugins.ledger import Ledger
    from overdeck.wiring.scope import here

    with verb("plugins.list", as_json) as out:
        found = Ledger(Places.from_environment(), here()).plugins()
        out.data = {
            "plugins": [
                {
                    "id": plugin.id,
                    "state": plugin.state,
                    "versions": list(plugin.versions),
                    "roots": [str(root) for root in plugin.roots],
                    "on_in": [str(file) for file in plugin.on_in],
                    "off_in": [str(file) for file in plugin.off_in],
                    "blocked": plugin.blocked,
                }
                for plugin in found
            ]
        }
        if not found:
            out.line("the client's files name no plugin")
            return
        out.table(
            ("plugin", "state", "version", "where"),
            [
                (
                    plugin.id,
                    plugin.state,
                    ", ".join(plugin.versions) or "-",
                    ", ".join(map(str, plugin.on_in or plugin.roots)) or "-",
                )
                for plugin in found
            ],
            below="where",
        )
        there = [plugin.id for plugin in found if any(root.is_dir() for root in plugin.roots)]
        if there:
            out.note(f"next: overdeck plugins audit {there[0]}")
