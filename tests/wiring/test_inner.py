"""What a program starts in its turn is read from its arguments, and never made up."""

import pytest

from overdeck.wiring.inner import chain


@pytest.mark.parametrize(
    ("words", "last"),
    [
        (["sh", "-c", "/opt/guard --fast"], "/opt/guard"),
        (["/bin/bash", "-ec", "exec /opt/guard"], "/opt/guard"),
        (["bash", "-eu", "-o", "pipefail", "-c", "/opt/guard"], "/opt/guard"),
        (["bash", "--noprofile", "-c", "/opt/guard"], "/opt/guard"),
        (["env", "A=1", "B=2", "/opt/guard"], "/opt/guard"),
        (["timeout", "5", "nice", "-n", "3", "/opt/guard"], "/opt/guard"),
        (["nohup", "setsid", "/opt/guard"], "/opt/guard"),
        (["sh", "-c", "sh -c /opt/guard"], "/opt/guard"),
        (["sh", "-c", "$HOME/guard"], "/home/me/guard"),
    ],
)
def test_a_program_behind_another_is_found(words, last):
    found = chain(words, {"HOME": "/home/me"})
    assert (found.hops[-1][0], found.own_code) == (last, False)


@pytest.mark.parametrize(
    "words",
    [
        ["sh", "-c", "a | b"],
        ["sh", "-c", "$WHO/guard"],
        ["sh", "-c"],
        ["bash", "-lc", "guard"],
        ["bash", "--login", "-c", "guard"],
        ["python3", "-c", "import os"],
        ["python3", "-I", "-Sc", "import os"],
        ["node", "-e", "1"],
        ["node", "--eval", "1"],
        ["perl", "-w", "-e", "1"],
    ],
)
def test_code_in_the_arguments_is_called_that(words):
    assert chain(words, {}) == ((tuple(words),), True)


@pytest.mark.parametrize(
    "words",
    [
        ["python3", "hook.py", "-c"],
        ["node", "hook.js", "-e"],
        ["sh", "hook.sh", "-c"],
        ["env", "-i", "guard"],
        ["env"],
        ["timeout", "-k", "1", "5", "guard"],
        ["timeout"],
        ["/opt/guard", "-c", "x"],
    ],
)
def test_what_is_no_such_program_or_has_options_of_its_own_is_left_alone(words):
    assert chain(words, {}) == ((tuple(words),), False)


def test_one_that_starts_itself_for_ever_has_an_end():
    assert len(chain(["env"] * 1000, {}).hops) == 5
