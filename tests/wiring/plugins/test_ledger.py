"""Which plugins there are, and who switches them on: ``overdeck plugins list``."""

import json
from pathlib import Path

from pluginhome import PLUGIN

from overdeck.wiring.plugins.ledger import Ledger


def test_list_says_who_switches_a_plugin_on(home):
    plugins = {entry["id"]: entry for entry in home.run("overdeck", "plugins", "list", "--json").data["plugins"]}

    assert plugins[PLUGIN]["state"] == "on" and len(plugins[PLUGIN]["on_in"]) == 4
    assert [Path(file).parts[-3] for file in plugins[PLUGIN]["off_in"]] == ["one"]  # a list of versions is no true
    home.run("overdeck", "plugins", "remove", PLUGIN)
    shown = home.run("overdeck", "plugins", "list").out
    assert "blocked" in shown and "quiet@market" in shown


def test_files_of_any_shape_list_without_a_crash(home):
    for name in (".claude.json", ".claude/settings.json", ".claude/plugins/installed_plugins.json"):
        for content in (
            "",
            "[]",
            '{"plugins": 5, "projects": [1], "enabledPlugins": 7}',
            '{"plugins": {"x": [null, {}]}}',
        ):
            (home.root / name).write_text(content)
            assert home.run("overdeck", "plugins", "list", "--json").code == 0


def test_the_ledger_reads_the_first_form_of_the_clients_bookkeeping(places, home):
    (home.root / ".claude/plugins/installed_plugins.json").write_text(
        json.dumps({"version": 1, "plugins": {PLUGIN: {"version": "1", "installPath": "/x"}}})
    )
    found = Ledger(places, home.root).named(PLUGIN)

    assert (found.roots, found.versions) == ((Path("/x"),), ("1",))
