"""What the commands load, and that every one of them explains itself."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commandlines import doors
from homes import Home

from overdeck.process import DOORS, argv_of


@pytest.mark.parametrize(
    ("door", "args"),
    [
        ("overdeck", ["--help"]),
        ("overdeck", ["hooks", "list"]),
        ("overdeck", ["audit", "--help"]),
        ("overdeck", ["fires", "--help"]),
        ("overdeck", ["tui", "--help"]),
        ("hookbench", ["--help"]),
        ("hookbench", ["ab", "--help"]),
        ("od-incidents", ["--help"]),
        ("od-incidents", ["list"]),
    ],
)
def test_a_command_loads_nothing_heavy_that_it_does_not_need(tmp_path: Path, door: str, args: list[str]) -> None:
    loaded = Home(tmp_path).loaded_by(door, *args)
    assert "overdeck" in loaded
    assert loaded & {"duckdb", "_duckdb", "textual", "psutil", "numpy", "scipy"} == set()


def test_a_piped_list_does_not_load_rich(tmp_path: Path) -> None:
    assert "rich.table" not in Home(tmp_path).loaded_by("overdeck", "hooks", "list")


def test_a_verb_loads_no_other_verb(tmp_path: Path) -> None:
    loaded = Home(tmp_path).loaded_by("overdeck", "hooks", "list")
    assert "overdeck.cli.hooks.list" in loaded
    assert loaded & {"overdeck.cli.audit", "overdeck.cli.fires", "overdeck.cli.adopt"} == set()


def verbs() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every command of every door, hidden aliases left out."""
    for door, app in doors().items():
        pending: list[tuple[tuple[str, ...], Any]] = [((), app)]
        while pending:
            path, command = pending.pop()
            below = getattr(command, "commands", {})
            pending += [((*path, name), child) for name, child in below.items() if not child.hidden]
            if not below:
                yield door, path


@pytest.mark.parametrize(("door", "path"), list(verbs()), ids=lambda value: "-".join(value) if value else "")
def test_every_command_has_help_and_json(tmp_path: Path, door: str, path: tuple[str, ...]) -> None:
    ran = Home(tmp_path).run(door, *path, "--help")
    assert ran.code == 0
    assert "--json" in ran.out or path == ("tui",)
    assert len(ran.out) > 200


@pytest.mark.parametrize("door", DOORS)
def test_a_wrong_verb_or_option_exits_2_with_the_next_command(tmp_path: Path, door: str) -> None:
    home = Home(tmp_path)
    for args in (["no-such-verb"], ["--no-such-option"]):
        ran = home.run(door, *args)
        assert ran.code == 2 and "next:" in ran.err, args
        assert ran.out == ""
        document = home.run(door, *args, "--json").document
        assert document["ok"] is False and document["error"]["code"] == "usage"


def test_a_reader_that_leaves_early_is_not_an_error(tmp_path: Path) -> None:
    home = Home(tmp_path)
    done = subprocess.run(
        ["sh", "-c", '"$@" | true', "sh", *argv_of("overdeck"), "hooks", "list", "--json"],
        capture_output=True, text=True, env=home.environment(), check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
