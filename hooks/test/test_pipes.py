"""A pipe where a call reads a file: neither front waits for it, and what guarded before guards on."""

import os

import pytest
from fronts import Front, bash

PLANS = "state/plans/claude"


@pytest.mark.parametrize(
    "file",
    [
        "config.toml",
        "modules/guard/module.toml",
        "modules/guard/module.py",
        f"{PLANS}/PreToolUse.plan",
        f"{PLANS}/recipe",
    ],
)
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(front: Front, file: str) -> None:
    front.module("guard", "return deny('no')")
    front.config.write_text("")
    front.install()
    path = front.root / file
    path.unlink()
    os.mkfifo(path)
    assert front.call(bash("ls")).decision == "deny"
