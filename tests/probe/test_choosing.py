"""Which hooks a probe plays of the files that are there: no client is run here."""

import json
from pathlib import Path

import pytest
from homes import Home

from overdeck.authoring.fleet import recipe_for
from overdeck.paths import Places
from overdeck.probe.hooks import Choice, bring, choose
from overdeck.probe.room import Room
from overdeck.wiring.settings import read_settings
from overdeck.wiring.sources import all_files, silenced


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def chosen(home: Home) -> Choice:
    places = Places.from_environment({"HOME": str(home.root)})
    files = all_files(places, home.root, {"claude"})
    return choose(files, silenced(files), recipe_for(places), yes=False)


@pytest.mark.parametrize("text", ['{"hooks": 5', '{"model": 5}', '{"hooks": {}} // mine'])
def test_a_file_that_the_client_drops_is_said_where_no_hook_can_be_read_in_it(home: Home, text: str) -> None:
    home.settings.parent.mkdir()
    home.settings.write_text(text)
    choice = chosen(home)
    assert choice.played == ()
    (said,) = choice.silent
    assert said.startswith(f"{home.settings}: the client drops the file: ")


def test_what_an_install_would_write_is_played_where_there_is_no_file(home: Home) -> None:
    choice = chosen(home)
    assert (choice.installed, choice.silent, bool(choice.played)) == (False, (), True)


def test_a_hook_named_by_home_or_project_is_there_in_the_throwaway_place(home: Home, tmp_path: Path) -> None:
    project = tmp_path / "project"
    for folder, command in (
        (home.root, "python3 ~/.claude/hooks/own.py"),
        (project, '"$CLAUDE_PROJECT_DIR"/.claude/hooks/its.sh'),
    ):
        script = folder / ".claude" / "hooks" / command.rpartition("/")[2]
        script.parent.mkdir(parents=True, exist_ok=True)
        script.touch()
        hook = {"type": "command", "command": command}
        (folder / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    room = Room.make(tmp_path / "room")
    bring(all_files(Places.from_environment(home.environment()), project, {"claude"}), room, home.root)
    assert (room.home / ".claude/hooks/own.py").is_file()
    assert (room.project / ".claude/hooks/its.sh").is_file()


def test_a_plugins_hook_is_told_where_the_plugin_lies(home: Home, tmp_path: Path) -> None:
    root = tmp_path / "plugin"
    (root / "hooks").mkdir(parents=True)
    hook = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/start.sh"}
    (root / "hooks" / "hooks.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    file = read_settings(root / "hooks" / "hooks.json", client="claude", plugin_root=root)
    (played,) = choose(
        [file], {}, recipe_for(Places.from_environment(home.environment())), yes=True, fleet=False
    ).played
    assert played.argv[:2] == ("/usr/bin/env", f"CLAUDE_PLUGIN_ROOT={root}")
