"""A command that was typed wrongly is answered with how it is typed, not with where that could be looked up."""

from pathlib import Path

import pytest
from homes import Home


@pytest.mark.parametrize(
    ("argv", "form"),
    [
        (["od-incidents", "note"], "od-incidents note [OPTIONS] ID [TEXT]"),
        (["od-incidents", "resolve", "OD-1", "--commit", "x"], "od-incidents resolve [OPTIONS] ID..."),
        (["od-incidents", "open", "a", "b"], "od-incidents open [OPTIONS] [FILE]"),
        (["od-incidents", "status"], "od-incidents init | open | list"),
        (["overdeck", "hooks", "frobnicate"], "overdeck hooks list | "),
        (["hookbench", "frobnicate"], "hookbench ab | "),
    ],
    ids=" ".join,
)
def test_the_hint_is_the_form_of_the_command(tmp_path: Path, argv: list[str], form: str) -> None:
    ran = Home(tmp_path / "home").run(*argv)
    assert (ran.code, "Traceback" in ran.err) == (2, False)
    assert ran.err.splitlines()[-1].startswith(f"  next: {form}")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["hookbench", "ab", "true", "true", "--pairs", "x"], "'--pairs': that is no whole number"),
        (["overdeck", "install", "--scope", "projekt"], "'--scope': 'projekt' is not one of"),
    ],
    ids=lambda words: words[-1],
)
def test_a_value_is_refused_in_words_for_people(tmp_path: Path, argv: list[str], said: str) -> None:
    assert said in Home(tmp_path / "home").run(*argv).err


def test_hidden_verbs_are_not_offered(tmp_path: Path) -> None:
    assert "done" not in Home(tmp_path / "home").run("od-incidents", "status").err
