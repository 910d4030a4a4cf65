"""Claude Code on a terminal: what only a person sees."""

import json
from pathlib import Path

import pytest
from clientrig import Rig
from onscreen import play_on_screen, squeezed

from overdeck.authoring.fleet import BuiltFront, built_front
from overdeck.dispatch import planning
from overdeck.dispatch.plan import HEADER, unsealed
from overdeck.dispatch.writing import sealed

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower

ABSENT = BuiltFront(Path(), False)


def test_what_a_module_tells_the_user_stands_on_the_screen_and_nowhere_else(claude: Rig) -> None:
    claude.module("line", "return tell('for your eyes')", cls="adviser")
    claude.install()
    shown, facts = play_on_screen(claude, claude.client.shell("touch told"), until="for your eyes")
    assert squeezed("for your eyes") in shown
    assert claude.file("told").exists()
    assert "for your eyes" not in str(facts["turns"])


def test_an_ask_is_a_dialog_that_shows_the_reason_and_nothing_runs_before_it_is_answered(claude: Rig) -> None:
    claude.module("owner", "return ask('the owner decides')")
    claude.install()
    shown, facts = play_on_screen(
        claude, claude.client.shell("touch asked"), until="the owner decides", ends=False
    )
    assert squeezed("the owner decides") in shown
    assert squeezed("Do you want to proceed?") in shown
    assert not claude.file("asked").exists()
    assert facts["results"] == ["(nothing)"]


def test_a_permission_that_a_module_denies_is_refused_without_a_dialog(claude: Rig) -> None:
    claude.module("owner", "return ask('the owner decides')")
    claude.module("permits", "return deny('not this')", events={"PermissionRequest": "Bash"})
    claude.install()
    _, facts = play_on_screen(claude, claude.client.shell("touch asked"), until="Alldone")
    assert "not this" in facts["results"][0]
    assert not claude.file("asked").exists()


@pytest.mark.skipif(not (built_front() or ABSENT).fresh, reason="only the native front outlives its Python")
def test_an_interpreter_that_is_gone_is_told_on_the_screen_and_by_the_doctor(claude: Rig) -> None:
    claude.module("no-mark", "return deny('not here')")
    claude.install()
    plans = claude.home.state / "plans" / "claude"
    for file, header in ((plans / "PreToolUse.plan", HEADER), (plans / planning.RECIPE, "overdeck-recipe 1")):
        lines, _, details = unsealed(file.read_bytes(), header)
        moved = ["python /nowhere/python3" if line.startswith("python ") else line for line in lines]
        file.write_bytes(sealed(header, [line for line in moved if not line.startswith("source ")]) + details)
    told = "Python did not start, so no gate ran; see: overdeck doctor"
    shown, _ = play_on_screen(claude, claude.client.shell("touch marked"), until=told)
    assert squeezed(told) in shown
    ill = claude.home.run("overdeck", "doctor", "--json")
    assert (ill.code, "/nowhere/python3" in ill.out) == (1, True)


def test_an_entry_whose_program_is_gone_is_told_on_the_screen_and_by_the_doctor(claude: Rig) -> None:
    claude.module("no-mark", "return deny('not here')")
    claude.install()
    settings = json.loads(claude.settings.read_text())
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"] = "/nowhere/overdeck-hook"
    claude.settings.write_text(json.dumps(settings))
    shown, _ = play_on_screen(claude, claude.client.shell("touch marked"), until="/nowhere/overdeck-hook")
    assert "/nowhere/overdeck-hook" in shown
    ill = claude.home.run("overdeck", "doctor", "--json")
    assert (ill.code, "/nowhere/overdeck-hook" in ill.out) == (1, True)
