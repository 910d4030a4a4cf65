"""``overdeck audit`` of a home with entries of our own: are they still right, and what still runs behind them."""

import json
import os
from pathlib import Path

import pytest
from homes import Home

from overdeck.authoring.fleet import interpreter

QUIET = "import sys\nsys.stdin.read()\n"


class OwnHome(Home):
    """A home whose PATH finds the interpreter that the dispatcher runs on."""

    def environment(self, **extra: str) -> dict[str, str]:
        path = f"{interpreter().parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return {**super().environment(**extra), "PATH": path}

    def wire(self, *commands: str) -> None:
        self.settings.parent.mkdir(exist_ok=True)
        hooks = [{"type": "command", "command": command} for command in commands]
        self.settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}))


@pytest.fixture
def home(tmp_path: Path) -> OwnHome:
    return OwnHome(tmp_path / "home")


def rules(home: OwnHome) -> set[str]:
    return {found["rule"] for found in home.run("overdeck", "audit", "--json").data["findings"]}


def test_an_entry_whose_matcher_is_no_longer_that_of_the_modules_is_found(home: OwnHome) -> None:
    home.settings.parent.mkdir(exist_ok=True)
    home.settings.write_text("{}")
    assert home.run("overdeck", "install").code == 0
    assert "install-matcher-drift" not in rules(home)
    text = home.settings.read_text()
    ours = json.loads(text)["hooks"]["PreToolUse"][0]["matcher"]
    home.settings.write_text(text.replace(f'"{ours}"', '"Bash"'))
    assert "install-matcher-drift" in rules(home)


def test_what_install_has_just_written_has_no_flaw(home: OwnHome) -> None:
    home.settings.parent.mkdir(exist_ok=True)
    home.settings.write_text("{}")
    assert home.run("overdeck", "install").code == 0
    assert len(json.loads(home.settings.read_text())["hooks"]) > 1
    assert rules(home) == set()


def test_hooks_that_were_adopted_still_cost_what_they_start(home: OwnHome) -> None:
    scripts = home.root / "hooks"
    scripts.mkdir()
    for name in ("one.py", "two.py"):
        (scripts / name).write_text(QUIET)
    home.wire(f"python3 {scripts}/one.py", f"python3 {scripts}/two.py", "cat >/dev/null; true")
    before = home.run("overdeck", "audit", "--json").data["moments"]["one Bash call"]
    done = home.run("overdeck", "adopt", "--yes", "--json").data
    assert [hook["kind"] for hook in done["hooks"]] == ["equal"] * 3
    after = home.run("overdeck", "audit", "--json").data
    cost = after["moments"]["one Bash call"]
    assert (after["clients"][0]["adopted"], after["clients"][0]["adopted_started"]) == (3, 1)
    # the front, its interpreter, two forks, and the shell with its cat
    assert (before["starts"], cost["starts"]) == (6, 6)
    assert 10 < cost["cpu_ms"] < before["cpu_ms"] / 2
    write = after["moments"]["one Write call"]
    assert (write["handlers"], write["starts"]) == (0, 0)
    assert "3 adopted hooks, 1 of them still started as programs" in home.run("overdeck", "audit").out


def test_an_entry_without_adopted_hooks_is_one_start(home: OwnHome) -> None:
    home.settings.parent.mkdir(exist_ok=True)
    home.settings.write_text("{}")
    assert home.run("overdeck", "install").code == 0
    said = home.run("overdeck", "audit")
    assert home.run("overdeck", "audit", "--json").data["moments"]["one Bash call"]["starts"] == 1
    assert "adopted" not in said.out.split("next:")[0]
