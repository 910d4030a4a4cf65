"""What pyproject.toml says of the tree: the contracts name every part of the package, the wheel only what is there."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOORS = {"overdeck.cli", "overdeck.tui"}


TOOL = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]


@pytest.fixture(scope="module")
def contracts() -> list[dict[str, list[str]]]:
    return TOOL["importlinter"]["contracts"]


def parts() -> set[str]:
    found = {
        path.stem
        for path in (ROOT / "overdeck").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    return {f"overdeck.{name}" for name in found - {"__init__"}}


def test_the_hot_path_may_import_no_other_part(contracts: list[dict[str, list[str]]]) -> None:
    assert parts() - set(contracts[0]["forbidden_modules"]) == {"overdeck.dispatch"}


def test_every_core_is_kept_from_the_doors(contracts: list[dict[str, list[str]]]) -> None:
    assert parts() - set(contracts[1]["source_modules"]) == DOORS


def test_the_wheel_ships_only_what_is_there_and_everything_that_init_writes() -> None:
    included = TOOL["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert [source for source in included if not (ROOT / source).exists()] == []
    for needed in ("taxonomy.toml", "playbooks", "never-touch.md", "template"):
        assert included[f"incidents/{needed}"] == f"overdeck/_shipped/incidents/{needed}"


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "overdeck" / "py.typed").is_file()
