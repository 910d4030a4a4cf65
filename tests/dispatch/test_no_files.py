"""What stands in the place of a file that a call reads, and is none, or none that ends: the call is not held up, and
what guarded it before guards it still."""

from pathlib import Path

import pytest
from fronts import Front, bash


@pytest.fixture
def front(tmp_path: Path) -> Front:
    made = Front(tmp_path)
    made.module("guard", "return deny('no')")
    made.config.write_text("")
    made.install()
    return made


@pytest.mark.parametrize("text", ["x = " + "[" * 50_000, "x = " + "9" * 50_000, "x = '\\", "\x00", "\ud800"])
@pytest.mark.parametrize("file", ["config.toml", "modules/guard/module.toml", "user-modules/mine/module.toml"])
def test_toml_that_no_parser_takes_leaves_the_last_good_plan_in_force(front: Front, file: str, text: str) -> None:
    path = front.root / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert front.call(bash("ls")).decision == "deny"
    (error,) = front.errors("overdeck")
    assert "last good plan" in error["cause"] and str(path) in error["cause"]


@pytest.mark.parametrize(
    "value", ["nan", "-inf", "1e999", "2026-11-30", "07:32:00", "[[2026-11-30T07:32:00Z]]", "{a = nan}"]
)
def test_a_config_that_no_plan_can_hold_leaves_the_last_good_plan_in_force(front: Front, value: str) -> None:
    mine = front.user / "mine"
    mine.mkdir()
    (mine / "module.py").write_text("def evaluate(call): pass")
    (mine / "module.toml").write_text(
        f'id = "mine"\npack = "mine"\nclass = "adviser"\n[events]\nPreToolUse = "*"\n[config]\nx = {value}\n'
    )
    assert front.call(bash("ls")).decision == "deny"
    (error,) = front.errors("overdeck")
    assert "last good plan" in error["cause"] and f"{mine}/module.toml: [config] cannot be kept" in error["cause"]


def test_a_users_table_that_no_plan_can_hold_leaves_the_last_good_plan_in_force(front: Front) -> None:
    toml = front.modules / "guard" / "module.toml"
    toml.write_text(f"{toml.read_text()}[config]\nwords = []\n")
    front.install()
    front.config.write_text("[modules.guard]\nwords = [2026-11-30]\n")
    assert front.call(bash("ls")).decision == "deny"
    (error,) = front.errors("overdeck")
    assert f"{front.config}: [modules.guard] words cannot be kept in a plan" in error["cause"]


@pytest.mark.parametrize("to", ["config.toml", "nowhere"])
def test_a_config_that_is_a_link_to_nothing_is_not_a_config_that_is_not_there(front: Front, to: str) -> None:
    front.module("other", "return None")
    front.config.write_text("[modules.guard]\nenabled = false\n")
    front.install()
    front.config.unlink()
    front.config.symlink_to(to)
    assert front.call(bash("ls")).decision == ""
    (error,) = front.errors("overdeck")
    assert "last good plan" in error["cause"] and str(front.config) in error["cause"]
    front.config.unlink()
    assert front.call(bash("ls")).decision == "deny", "without a config it is on"
