"""Every command says its version, and its help where it is given nothing."""

from pathlib import Path

import pytest
from homes import Home

from overdeck import __version__
from overdeck.process import DOORS


@pytest.mark.parametrize("command", DOORS)
def test_every_command_says_its_version(tmp_path: Path, command: str) -> None:
    ran = Home(tmp_path / "home").run(command, "--version")

    assert (ran.code, ran.out, ran.err) == (0, f"{command} {__version__}\n", "")


@pytest.mark.parametrize("command", DOORS)
def test_given_nothing_every_command_prints_its_help(tmp_path: Path, command: str) -> None:
    ran = Home(tmp_path / "home").run(command)

    assert ran.code == 2 and "Usage" in ran.out + ran.err and "--version" in ran.out + ran.err


def test_the_help_of_the_page_names_its_twin_for_programs(tmp_path: Path) -> None:
    assert "overdeck fires --json" in Home(tmp_path / "home").run("overdeck", "tui", "--help").out
