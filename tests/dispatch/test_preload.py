"""What is imported before the forks: what survivors share, and what a lone one needs."""

import sys

import pytest

from overdeck.dispatch.judging import preload
from overdeck.dispatch.plan import Module


def importing(*names: str) -> Module:
    module = Module("m", "gate", ["*"])
    module.imports = list(names)
    return module


@pytest.fixture(autouse=True)
def not_imported_yet() -> None:
    sys.modules.pop("colorsys", None)


def test_what_two_survivors_import_is_imported_once_before_they_are_forked() -> None:
    preload([importing("colorsys"), importing("colorsys")])
    assert "colorsys" in sys.modules


def test_what_a_lone_survivor_imports_is_imported_before_it_is_forked() -> None:
    preload([importing("colorsys")])
    assert "colorsys" in sys.modules


def test_what_one_of_several_imports_cannot_delay_the_others() -> None:
    preload([importing("colorsys"), importing("re")])
    assert "colorsys" not in sys.modules


def test_an_import_that_fails_is_left_to_the_module_that_wants_it() -> None:
    preload([importing("no_such_module", "colorsys")])
    assert "colorsys" in sys.modules
