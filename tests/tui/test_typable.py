"""Commands that a page names can be typed as they stand: by their path, where PATH does not lead to them."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pages
import pytest
from pages import home_environ

from overdeck.tui.help import Help
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.typable import off_path, typable, typable_in

pytestmark = pytest.mark.timeout(60)
FOLDER = Path("/opt/overdeck/bin")


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    return Surroundings(home_environ(tmp_path), cwd=tmp_path, clock=lambda: now, live=False, folder=FOLDER)


async def test_the_twin_is_named_and_copied_by_its_path(around: Surroundings) -> None:
    async with pages.opened(around) as seen:
        wanted = f"{FOLDER}/overdeck fires --since 7d --sort verdict --json"
        assert seen.text("#twin") == f"as JSON: {wanted}"
        await seen.press("y")
        await seen.until(lambda: seen.app.clipboard == wanted)


async def test_what_to_type_is_named_by_its_path_and_a_word_at_the_start_says_why(around: Surroundings) -> None:
    async with pages.opened(around, "machine") as seen:
        assert f"Type: {FOLDER}/overdeck install" in seen.text("#notice")
        assert any(
            f"PATH does not lead to this overdeck; to type what a page names: {FOLDER}/overdeck" in s
            for s in seen.said
        )


async def test_the_help_says_where_the_commands_are(around: Surroundings) -> None:
    async with pages.opened(around, "bench") as seen:
        await seen.press("question_mark")
        await seen.until(lambda: isinstance(seen.app.screen, Help) and seen.text("#keys"))
        assert f"its commands are in {FOLDER}" in seen.text("#keys")


def test_other_programs_and_other_words_stay_as_they_are() -> None:
    assert typable("kill 13", FOLDER) == "kill 13"
    assert typable_in("next: ls -l overdeck", FOLDER) == "next: ls -l overdeck"
    assert typable_in("overdeck says: next: overdeck doctor", FOLDER).endswith(f"next: {FOLDER}/overdeck doctor")


def command(folder: Path, first: str = "#!/opt/venv/bin/python") -> Path:
    folder.mkdir(exist_ok=True)
    made = folder / "overdeck"
    made.write_text(f"{first}\n")
    made.chmod(0o755)
    return made


def test_it_is_off_path_only_where_path_leads_elsewhere(tmp_path: Path) -> None:
    ours, empty, linked = tmp_path / "bin", tmp_path / "empty", tmp_path / "linked"
    here = command(ours)
    for folder in (empty, linked):
        folder.mkdir()
    (linked / "overdeck").symlink_to(here)
    for path, wanted in ((f"{empty}:{ours}", None), (str(linked), None), (str(empty), ours)):
        assert off_path({"PATH": path}, here) == wanted
    assert off_path({}, here) == ours
    assert off_path({"PATH": f"{command(tmp_path / 'other').parent}:{ours}"}, here) == ours


def test_a_shim_that_starts_it_leads_to_it(tmp_path: Path) -> None:
    here = command(tmp_path / "bin")
    shim = command(tmp_path / "shims", "#!/usr/bin/env bash")
    assert off_path({"PATH": str(shim.parent)}, here) is None


def test_a_command_on_path_that_cannot_be_read_is_not_taken_for_ours(tmp_path: Path) -> None:
    here, gone = command(tmp_path / "bin"), command(tmp_path / "gone")
    if os.geteuid():
        gone.chmod(0o111)
        assert off_path({"PATH": str(gone.parent)}, here) == here.parent


def test_paths_at_home_have_a_tilde_but_not_in_quotes_nor_in_another_path(around: Surroundings) -> None:
    home = around.places.home
    assert around.at_home(f"in {home}/a: edit {home}, {home}") == "in ~/a: edit ~, ~"
    for text in (f"'{home}/a b'", f"{home}2/a", f"/mnt{home}/a"):
        assert around.at_home(text) == text
    nobody = replace(around, environ={"HOME": "/"})
    assert nobody.at_home("a / b //") == "a / b //"


def test_commands_that_are_not_installed_are_not_missed_on_path(tmp_path: Path) -> None:
    assert off_path({"PATH": str(tmp_path)}, tmp_path / "overdeck") is None
