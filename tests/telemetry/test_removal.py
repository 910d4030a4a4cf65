"""What to type for a module that may go: it must do what it says, and be offered only where it can."""

import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from overdeck.errors import OverdeckError
from overdeck.telemetry.grouping import grouped
from overdeck.telemetry.removal import removal

if TYPE_CHECKING:
    from conftest import User


def test_the_command_switches_the_module_off_and_nothing_else(user: "User") -> None:
    user.module("m")
    user.module("n")
    steps = removal(user.places, user.row("m"))

    for _ in range(2):  # pasted twice it is done once
        subprocess.run(["/bin/sh", "-c", steps.command], check=True)

    config = tomllib.loads(user.places.config_file.read_text())
    assert config["modules"] == {"m": {"enabled": False}}
    assert config["telemetry"] == {"keep_days": 100_000}
    assert [row.id for row in user.report().rows] == ["n"]


def test_where_the_config_has_a_table_of_the_module_there_is_no_command(user: "User") -> None:
    user.module("m")
    row = user.row("m")
    user.places.config_file.write_text("packs = []\n[modules.m]\nx = 1\n")

    assert removal(user.places, row).command == ""


def test_a_module_that_is_off_has_no_removal(user: "User") -> None:
    user.module("m")
    user.fire("gone")
    row = user.row("gone", everything=True)

    with pytest.raises(OverdeckError, match="switched off already"):
        removal(user.places, row)


def test_groups_by_event_hold_a_module_under_each_of_its_events(user: "User") -> None:
    user.module("both", events={"Stop": "*", "PreToolUse": "Bash"})
    user.module("one")
    user.tick()

    groups = grouped(user.report().rows, "event")

    assert [(group.name, [row.id for row in group.rows]) for group in groups] == [
        ("PreToolUse", ["both", "one"]),
        ("Stop", ["both"]),
    ]


def test_groups_by_plugin_are_packs_and_ones_own_modules(user: "User") -> None:
    user.module("m")
    user.tick()

    assert [group.name for group in grouped(user.report().rows, "plugin")] == ["your modules"]
