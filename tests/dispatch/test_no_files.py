"""What stands in the place of a file that a call reads, and is none, or none that ends: the call is not held up, and
what guarded it before guards it still."""

import os
from pathlib import Path

import pytest
from fronts import Front, bash

PLAN, RECIPE = "state/plans/claude/PreToolUse.plan", "state/plans/claude/recipe"


@pytest.fixture
def front(tmp_path: Path) -> Front:
    made = Front(tmp_path)
    made.module("guard", "return deny('no')")
    made.config.write_text("")
    made.install()
    return made


@pytest.mark.parametrize("file", ["config.toml", "modules/guard/module.toml", "modules/guard/module.py", PLAN, RECIPE])
def test_a_pipe_is_not_waited_for(front: Front, file: str) -> None:
    path = front.root / file
    path.unlink()
    os.mkfifo(path)
    assert front.call(bash("ls")).decision == "deny"


@pytest.mark.parametrize("text", ["x = " + "[" * 50_000, "x = " + "9" * 50_000, "x = '\\", "\x00", "\ud800"])
@pytest.mark.parametrize("file", ["config.toml", "modules/guard/module.toml", "user-modules/mine/module.toml"])
def test_toml_that_no_parser_takes_leaves_the_last_good_plan_in_force(front: Front, file: str, text: str) -> None:
    path = front.root / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert front.call(bash("ls")).decision == "deny"
    (error,) = front.errors("overdeck")
    assert "last good plan" in error["cause"] and str(path) in error["cause"]
