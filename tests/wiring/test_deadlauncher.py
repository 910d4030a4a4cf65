"""A dead launcher cannot report itself: every command that runs anyway says so."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from homes import Home

from overdeck.wiring.deadlauncher import dead_launchers
from overdeck.wiring.entries import Created
from overdeck.wiring.receipt import Receipt, write_receipt


@pytest.fixture
def installed(home: Home) -> Home:
    assert home.run("overdeck", "install").code == 0
    return home


def warnings(home: Home, *argv: str) -> list[str]:
    found = home.run("overdeck", *(argv or ("hooks", "list")), "--json").document["warnings"]
    return [text for text in found if "no gate runs" in text]


def replace_front(home: Home, argv: list[str]) -> None:
    data = json.loads(home.settings.read_text())
    for groups in data["hooks"].values():
        hook = groups[-1]["hooks"][0]
        hook["command"], hook["args"] = argv[0], [*argv[1:], *hook["args"][-4:]]
    home.settings.write_text(json.dumps(data))


def lose_program(home: Home) -> None:
    replace_front(home, ["/nowhere/overdeck-hook"])


def lose_twin(home: Home) -> None:
    replace_front(home, [sys.executable, "-I", "-S", "/nowhere/entry.py"])


def lose_plans(home: Home) -> None:
    shutil.rmtree(home.state / "plans")


def lose_interpreter(home: Home) -> None:
    recipe = home.state / "plans" / "claude" / "recipe"
    recipe.write_text(recipe.read_text().replace("\npython /", "\npython /nowhere/"))


def lose_entries(home: Home) -> None:
    home.settings.write_text("{}")


def lose_file(home: Home) -> None:
    home.settings.unlink()


def break_file(home: Home) -> None:
    home.settings.write_text(home.settings.read_text() + "}")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lose_program, "/nowhere/overdeck-hook"),
        (lose_twin, "/nowhere/entry.py"),
        (lose_plans, "no plan for PreToolUse"),
        (lose_interpreter, "runs the modules"),
        (lose_entries, "are gone"),
        (lose_file, "are gone"),
        (break_file, "not JSON"),
    ],
)
def test_a_command_that_runs_anyway_says_that_no_gate_runs_and_why(
    installed: Home, harm: Callable[[Home], None], said: str
) -> None:
    assert warnings(installed) == []
    harm(installed)
    found = warnings(installed)

    assert len(found) == 1 and said in found[0] and str(installed.settings) in found[0]


@pytest.mark.parametrize("argv", [("fires",), ("audit",), ("hooks", "show", "demo"), ("ingest",)], ids=" ".join)
def test_every_verb_says_it(installed: Home, argv: tuple[str, ...]) -> None:
    lose_program(installed)

    assert len(warnings(installed, *argv)) == 1


def test_without_json_it_is_a_warning_on_stderr(installed: Home) -> None:
    lose_program(installed)
    ran = installed.run("overdeck", "hooks", "list")

    assert "warning: no gate runs" in ran.err and "overdeck doctor" in ran.err and "no gate runs" not in ran.out


def test_install_and_doctor_look_themselves_and_do_not_say_it_twice(installed: Home) -> None:
    lose_program(installed)

    assert warnings(installed, "doctor") == [] and warnings(installed, "install") == []
    assert warnings(installed) == []


def test_nothing_is_said_where_nothing_is_installed_or_all_was_taken_out(home: Home) -> None:
    assert warnings(home) == []
    home.run("overdeck", "install")
    home.run("overdeck", "uninstall")

    assert warnings(home) == []


@pytest.mark.parametrize("client", ["codex", "gemini", "opencode"])
def test_the_other_clients_are_looked_at_in_their_own_files(home: Home, places, client: str) -> None:
    said = home.run("overdeck", "install", "--client", client, "--json").data
    assert list(dead_launchers(places)) == []
    file = Path(said["file"])
    text = file.read_text()
    file.write_text(text.replace("/plans/", "/plans/nowhere/"))
    assert [
        f"no plan for PreToolUse in {home.state}/plans/nowhere/{client}" in why for why in dead_launchers(places)
    ] == [True]
    file.write_text(text.replace("FRONTS = {", "FRONTS = {{") if client == "opencode" else text + "}")
    assert ["is not JSON" in why for why in dead_launchers(places)] == [True]
    file.unlink()
    assert ["are gone" in why for why in dead_launchers(places)] == [True]


def test_an_install_that_was_killed_before_it_wrote_the_settings_left_nothing_to_miss(home: Home, places) -> None:
    write_receipt(places, "claude", Receipt(home.settings, True, Created(), pending=True))
    assert list(dead_launchers(places)) == []
    write_receipt(places, "claude", Receipt(home.settings, True, Created()))
    assert len(list(dead_launchers(places))) == 1


def test_a_projects_entries_are_looked_at_from_everywhere(home: Home, places) -> None:
    project = home.root / "project"
    (project / ".claude").mkdir(parents=True)
    assert home.run("overdeck", "install", "--scope", "local", cwd=project).code == 0
    assert list(dead_launchers(places)) == []
    (project / ".claude" / "settings.local.json").write_text("{}")

    assert str(project) in warnings(home)[0]


def test_a_project_that_is_gone_is_nothing_to_report(home: Home, places) -> None:
    project = home.root / "project"
    (project / ".claude").mkdir(parents=True)
    home.run("overdeck", "install", "--scope", "local", cwd=project)
    shutil.rmtree(project)

    assert list(dead_launchers(places)) == []


@pytest.mark.parametrize(
    "content",
    ["--by-overdeck", '{"hooks": {"Stop": [{"hooks": [{"args": ["--by-overdeck"]}]}]}}', '["--by-overdeck"]',
     '{"hooks": {"Stop": 5}, "x": "--by-overdeck"}', "[" * 100_000 + "--by-overdeck"],
    ids=["text", "no command", "a list", "an event that is no list", "nested deep"],
)  # fmt: skip
def test_settings_of_any_shape_are_a_sentence_never_a_crash(home: Home, places, content: str) -> None:
    home.settings.write_text(content)

    assert [line.count("no gate runs by") for line in dead_launchers(places)] == [1]


def test_looking_starts_no_process(installed: Home, places, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", never)

    assert list(dead_launchers(places)) == []
    assert Path(places.claude_dir / "settings.json").is_file()
