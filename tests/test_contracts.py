"""The import contracts name every part of the package: a new one cannot slip through."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOORS = {"overdeck.cli", "overdeck.tui"}


@pytest.fixture(scope="module")
def contracts() -> list[dict[str, list[str]]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]


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
