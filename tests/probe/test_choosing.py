"""Which hooks a probe plays of the files that are there: no client is run here."""

from pathlib import Path

import pytest
from homes import Home

from overdeck.authoring.fleet import recipe_for
from overdeck.paths import Places
from overdeck.probe.hooks import Choice, choose
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
