"""What ``--help`` prints is what the options say: the terminal library takes ``[words]`` for its own markup."""

from collections.abc import Iterator
from typing import Any

import pytest
from commandlines import doors
from homes import Home

from overdeck.process import DOORS


def _commands(command: Any) -> Iterator[Any]:
    yield command
    for below in getattr(command, "commands", {}).values():
        yield from _commands(below)


@pytest.mark.parametrize("typed", ["overdeck -h", "od-incidents list -h", "overdeck fires sql -h"])
def test_the_short_word_for_help_helps(tmp_path, typed):
    ran = Home(tmp_path / "home").run(*typed.split())
    assert (ran.code, ran.err) == (0, "") and "--help" in ran.out


@pytest.mark.parametrize("door", DOORS)
def test_no_help_text_holds_brackets_that_would_vanish(door):
    texts = {
        f"{command.name} {param.name}": getattr(param, "help", None) or ""
        for command in _commands(doors()[door])
        for param in command.params
    }
    assert len(texts) > 5
    assert [name for name, text in texts.items() if "[" in text] == []


@pytest.mark.parametrize("door", DOORS)
def test_an_option_that_may_be_given_again_names_its_value_in_words(door):
    lists = {
        f"{command.name} {param.opts[0]}": param.metavar
        for command in _commands(doors()[door])
        for param in command.params
        if param.param_type_name == "option" and "list[" in str(param.type_descriptor.annotation)
    }
    assert lists and None not in lists.values(), "typer would write the Python type, <list[Path]>"
