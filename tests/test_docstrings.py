"""The examples in docstrings are run: one that is wrong misleads every reader after."""

import doctest
import importlib
import pkgutil

import pytest

import overdeck

NOT_IMPORTED = {"overdeck.dispatch.entry"}
"""It runs when it is imported."""

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(overdeck.__path__, "overdeck.")
    if module.name not in NOT_IMPORTED and "._shipped" not in module.name
)


@pytest.mark.parametrize("name", ["overdeck", *MODULES])
def test_the_examples_of_a_module_hold(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


def test_there_are_examples_to_run() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) > 10
