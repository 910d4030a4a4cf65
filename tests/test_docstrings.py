"""The examples in docstrings are run: one that is wrong misleads every reader after."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re

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


@pytest.mark.parametrize("name", ["overdeck", *MODULES])
def test_no_docstring_holds_the_seam_of_a_string_that_was_broken_in_two(name: str) -> None:
    tree = ast.parse(inspect.getsource(importlib.import_module(name)) or "")
    texts = [node.value.value for node in ast.walk(tree) if _is_text(node)]

    assert not [text for text in texts if re.search(r' "\n\s*"', text)]


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
