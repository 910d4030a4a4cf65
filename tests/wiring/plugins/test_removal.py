"""``overdeck plugins remove`` and ``block``: everywhere at once, for good, and back again."""

import json
import shutil
from pathlib import Path

import pytest
from pluginhome import PLUGIN, read, removed, tree


def test_a_plugin_is_removed_in_all_places_at_once(home):
    ran = home.run("overdeck", "plugins", "remove", "noisy", "--json")

    assert ran.code == 0 and removed(home)
    assert len(ran.data["files"]) == 8 and len(ran.data["stubs"]) == 2 and ran.data["left"] == []


def test_no_byte_beside_the_plugins_is_changed(home):
    """Undone by hand in the text, each file is what it was."""
    before = tree(home.root, ".local", "cache")
    home.run("overdeck", "plugins", "remove", PLUGIN)
    after = tree(home.root, ".local", "cache")

    assert after[".claude/settings.json"] == before[".claude/settings.json"].replace(
        b'"noisy@market": true,\n    ', b""
    )
    assert after["two/.claude/settings.json"] == b'{\n  "enabledPlugins": {}\n}\n'
    assert after["dotfiles/seat.json"] == b'{"enabledPlugins":{}}'
    assert after["three/.claude/settings.json"] == before["three/.claude/settings.json"]
    assert b'"history": [\n        "noisy@market"\n      ]' in after[".claude.json"], (
        "a history is no table of plugins"
    )


def test_removing_twice_is_removing_once(home):
    home.run("overdeck", "plugins", "remove", PLUGIN)
    once = tree(home.root)
    again = home.run("overdeck", "plugins", "remove", PLUGIN)

    assert again.code == 0 and "nothing to remove" in again.out
    assert tree(home.root) == once


def test_a_dry_run_shows_every_change_as_a_diff_and_writes_nothing(home):
    before = tree(home.root)
    ran = home.run("overdeck", "plugins", "remove", PLUGIN, "--dry-run")

    assert ran.code == 0 and tree(home.root) == before
    assert '-    "noisy@market": true' in ran.out and '+      "plugin": "noisy@market",' in ran.out
    for name in (
        "settings.json",
        "settings.local.json",
        "seat.json",
        ".claude.json",
        "installed_plugins.json",
        "blocklist",
    ):
        assert name in ran.out
    assert "stub: " in ran.out


def test_a_diff_shows_no_line_beside_the_changed_ones(home):
    assert "sk-secret" not in home.run("overdeck", "plugins", "remove", PLUGIN).out


def test_what_was_off_is_not_named_any_more_either_because_the_client_would_list_it_again(home):
    (home.root / ".claude/settings.json").write_text('{"enabledPlugins": {"noisy@market": false}}')
    home.run("overdeck", "plugins", "remove", PLUGIN)

    assert read(home, ".claude/settings.json") == {"enabledPlugins": {}}


def test_undo_puts_every_byte_and_folder_back(home):
    before = tree(home.root, ".local")
    home.run("overdeck", "plugins", "remove", PLUGIN)
    ran = home.run("overdeck", "plugins", "remove", PLUGIN, "--undo", "--json")

    assert ran.code == 0 and tree(home.root, ".local") == before
    assert home.run("overdeck", "plugins", "remove", PLUGIN, "--undo").code == 3


def test_undo_leaves_what_was_changed_since_and_names_its_backup(home):
    home.run("overdeck", "plugins", "remove", PLUGIN)
    state = home.root / ".claude.json"
    state.write_text(state.read_text().replace('"count": 1', '"count": 2'))
    changed = state.read_bytes()
    ran = home.run("overdeck", "plugins", "remove", "noisy", "--undo", "--json")
    warned = [text for text in ran.document["warnings"] if str(state) in text]

    assert ran.code == 0 and state.read_bytes() == changed and len(warned) == 1
    assert b"noisy" in Path(warned[0].rpartition(": ")[2]).read_bytes()
    assert read(home, ".claude/settings.json")["enabledPlugins"][PLUGIN] is True


def test_nothing_of_the_plugin_is_run_by_any_verb(home, folder):
    for argv in (
        ("list",),
        ("audit", str(folder)),
        ("remove", PLUGIN, "--dry-run"),
        ("remove", PLUGIN),
        ("block", PLUGIN),
    ):
        assert home.run("overdeck", "plugins", *argv).code == 0

    assert not list(home.root.rglob("ran"))


@pytest.mark.parametrize("name", ["nobody", "nobody@market"])
def test_an_unknown_plugin_is_not_found(home, name):
    home.run("overdeck", "plugins", "remove", name, "--json").check_refused(3, "no-such-plugin", "no plugin")


def test_a_name_that_two_marketplaces_have_is_ambiguous_with_candidates(home):
    path = home.root / "two/.claude/settings.json"
    path.write_text(json.dumps({"enabledPlugins": {"noisy@elsewhere": True}}))
    document = home.run("overdeck", "plugins", "remove", "noisy", "--json").check_refused(
        3, "ambiguous-plugin", "2"
    )

    assert document["data"]["candidates"] == ["noisy@elsewhere", PLUGIN]


def test_block_keeps_out_a_plugin_that_was_never_there(home):
    ran = home.run("overdeck", "plugins", "block", "worse@market", "--json")
    entry = read(home, ".claude/plugins/blocklist.json")["plugins"][0]

    assert (
        ran.code == 0
        and entry["plugin"] == "worse@market"
        and set(entry) == {"plugin", "added_at", "reason", "text"}
    )
    assert (entry["reason"], entry["text"]) == ("blocked-by-overdeck", "overdeck plugins block worse@market")
    assert "blocked already" in home.run("overdeck", "plugins", "block", "worse@market").out


def test_block_says_what_it_does_not_do(home):
    before = tree(home.root, ".local")
    warnings = home.run("overdeck", "plugins", "block", PLUGIN, "--json").document["warnings"]

    assert any("does not read" in text for text in warnings)
    assert sum("plugins remove noisy@market" in text for text in warnings) == 4
    assert {name for name, content in tree(home.root, ".local").items() if before.get(name) != content} == {
        ".claude/plugins/blocklist.json"
    }


def test_block_keeps_what_the_client_wrote_into_the_blocklist(home):
    path = home.root / ".claude/plugins/blocklist.json"
    path.write_text('{"fetchedAt":"x","plugins":[{"plugin":"a@b","added_at":"y","reason":"z","text":""}]}')
    home.run("overdeck", "plugins", "block", PLUGIN)

    data = read(home, ".claude/plugins/blocklist.json")
    assert data["fetchedAt"] == "x" and [entry["plugin"] for entry in data["plugins"]] == ["a@b", PLUGIN]


def test_a_moved_config_folder_has_its_own_state_file(home, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(home.root / ".claude", other)
    (other / ".claude.json").write_text(json.dumps({"pluginUsage": {PLUGIN: 1}}))
    home.run("overdeck", "plugins", "remove", PLUGIN, env={"CLAUDE_CONFIG_DIR": str(other)})

    assert json.loads((other / ".claude.json").read_text()) == {"pluginUsage": {}}
    assert PLUGIN not in (other / "settings.json").read_text()
