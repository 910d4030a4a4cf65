"""``overdeck hooks new``: a design that is finished, or nothing."""

from pathlib import Path

import pytest
from homes import Home

FINISHED = {
    "--event": "PreToolUse",
    "--matcher": "Bash",
    "--class": "gate",
    "--literal": "deploy",
    "--summary": "No deploys",
}


def arguments(**changes: str) -> list[str]:
    chosen = {**FINISHED, **{f"--{key}": value for key, value in changes.items()}}
    return [word for key, value in chosen.items() if value for word in (key, value)]


@pytest.mark.parametrize("cls", ["gate", "adviser", "rewriter", "observer"])
def test_every_class_gets_a_module_that_passes_its_own_matrix(tmp_path: Path, cls: str) -> None:
    home = Home(tmp_path)
    made = home.run("overdeck", "hooks", "new", "no-deploys", *arguments(**{"class": cls}))
    assert made.code == 0, made.err
    tested = home.run("overdeck", "hooks", "test", "no-deploys", "--json")
    assert tested.code == 0
    assert tested.data["modules"] == [{"id": "no-deploys", "cases": 2, "ok": True, "failures": []}]
    listed = home.run("overdeck", "hooks", "list", "--json").data["modules"]
    assert listed[-1]["id"] == "no-deploys", "a user's module is on, and last"


@pytest.mark.parametrize("event", ["Stop", "UserPromptSubmit", "SessionStart", "PostToolUse", "Notification"])
def test_every_kind_of_event_can_be_scaffolded(tmp_path: Path, event: str) -> None:
    matcher = {"SessionStart": "startup", "PostToolUse": "Write|Edit"}.get(event, "")
    made = Home(tmp_path).run("overdeck", "hooks", "new", "m", *arguments(event=event, matcher=matcher))
    assert made.code == 0, made.err


@pytest.mark.parametrize("missing", ["event", "matcher", "class", "literal", "summary"])
def test_an_unfinished_design_shows_the_ladder_and_writes_nothing(tmp_path: Path, missing: str) -> None:
    made = Home(tmp_path).run("overdeck", "hooks", "new", "no-deploys", *arguments(**{missing: ""}))
    assert made.code == 2
    assert f"--{missing}" in made.err and "Does it need to exist?" in made.err
    assert not list(tmp_path.rglob("module.*"))


@pytest.mark.parametrize(
    ("id", "changes", "said"),
    [
        ("Bad_Name", {}, "'Bad_Name' cannot be an id"),
        ("m", {"event": "PreToolUs"}, "PreToolUse"),
        ("m", {"class": "guard"}, "gate, adviser"),
        ("m", {"matcher": "Bash("}, "not a regex"),
        ("m", {"literal": "two words"}, "not one word"),
        ("m", {"class": "rewriter", "event": "Stop", "matcher": ""}, "PreToolUse"),
        ("git-decision", {}, "exists already"),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path: Path, id: str, changes: dict[str, str], said: str) -> None:
    made = Home(tmp_path).run("overdeck", "hooks", "new", id, *arguments(**changes))
    assert made.code == 2
    assert said in made.err and "next:" in made.err
    assert not list(tmp_path.rglob("module.*"))


@pytest.mark.parametrize("summary", ['quote """ here', "ends in \\", 'ends in "', "line\nbreak", "grüße {x} %s"])
def test_any_summary_makes_code_that_compiles(tmp_path: Path, summary: str) -> None:
    home = Home(tmp_path)
    made = home.run("overdeck", "hooks", "new", "m", *arguments(summary=summary))
    assert made.code == 0, made.err
    assert home.run("overdeck", "hooks", "test", "m").code == 0


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run("overdeck", "hooks", "new", "m", *arguments())
    code = next(tmp_path.rglob("module.py"))
    code.write_text("# mine\n")
    assert home.run("overdeck", "hooks", "new", "m", *arguments()).code == 2
    assert code.read_text() == "# mine\n"
