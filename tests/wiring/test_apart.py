"""An entry of ours that is measured answers as it does, and leaves nothing of the user's changed."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from homes import Home

from overdeck.authoring.fleet import front_argv, recipe_for
from overdeck.dispatch.plan import parse
from overdeck.paths import Places
from overdeck.wiring.apart import with_logs_apart
from overdeck.wiring.install import install

CALL = {
    "session_id": "s",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "echo forbidden"},
    "cwd": "/",
}


@pytest.fixture
def entry(home: Home, places: Places) -> list[str]:
    """What ``install`` wrote for PreToolUse, in a home with a gate and an observer that the front itself runs."""
    folder = places.user_modules / "seen"
    folder.mkdir()
    (folder / "module.toml").write_text(
        'id = "seen"\nsummary = "A journal for tests."\nclass = "observer"\nnative = ["event"]\n'
        '[events]\nPreToolUse = "Bash"\n'
    )
    install(places, recipe_for(places))
    return front_argv(recipe_for(places), "PreToolUse")


def answer(argv: list[str]) -> bytes:
    done = subprocess.run(
        argv, input=json.dumps(CALL).encode(), capture_output=True, env={}, timeout=60, check=True
    )
    return done.stdout


def files_below(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_measured_entry_answers_as_it_does_and_writes_elsewhere(home, entry, tmp_path):
    before = files_below(home.root)
    apart = with_logs_apart(entry, tmp_path / "throwaway")

    said = answer(apart)

    assert files_below(home.root) == before
    written = Home(tmp_path / "throwaway").state
    assert len((written / "hook-calls.jsonl").read_text().splitlines()) == 1
    assert len((written / "hook-fires.jsonl").read_text().splitlines()) == 1
    assert [path.name for path in (written / "modules").rglob("*.jsonl")] == ["journal.jsonl"]
    assert b'"permissionDecision":"deny"' in said
    assert answer(entry) == said


def test_the_plan_that_is_measured_is_the_users_own_but_for_where_it_writes(entry, places, tmp_path):
    apart = with_logs_apart(entry, tmp_path / "throwaway")
    of_user = parse((places.plans() / "PreToolUse.plan").read_bytes())
    measured = parse(Path(apart[apart.index("--plan") + 1], "PreToolUse.plan").read_bytes())

    assert not measured.stale()
    assert [(m.id, m.literals, m.code, m.config) for m in measured.modules] == [
        (m.id, m.literals, m.code, m.config) for m in of_user.modules
    ]


def test_an_entry_in_a_shell_line_is_measured_apart_as_well(home, entry, tmp_path):
    before = files_below(home.root)

    said = answer(with_logs_apart(["/bin/sh", "-c", shlex.join(entry)], tmp_path / "throwaway"))

    assert b'"permissionDecision":"deny"' in said
    assert files_below(home.root) == before


def test_a_plan_that_is_stale_is_made_anew_apart(home, entry, places, tmp_path):
    places.config_file.write_text("packs = []\n[modules.demo]\nenabled = false\n")
    before = files_below(home.root)

    assert answer(with_logs_apart(entry, tmp_path / "throwaway")) == b""
    assert files_below(home.root) == before


def test_without_plans_the_call_that_says_so_is_logged_apart(home, entry, places, tmp_path):
    for file in (*places.plans().glob("*.plan"), places.plans() / "recipe"):
        file.unlink()
    before = files_below(home.root)

    assert b"no gate ran" in answer(with_logs_apart(entry, tmp_path / "throwaway"))
    assert files_below(home.root) == before


def test_a_plan_of_another_version_is_handed_on_as_it_stands(entry, places, tmp_path):
    (places.plans() / "PreToolUse.plan").write_bytes(b"overdeck-plan 9 of another kind\n")

    apart = with_logs_apart(entry, tmp_path / "throwaway")

    copy = Path(apart[apart.index("--plan") + 1], "PreToolUse.plan")
    assert copy.read_bytes() == b"overdeck-plan 9 of another kind\n"


@pytest.mark.parametrize(
    "argv",
    [
        ["python3", "hook.py", "--plan", "/somewhere"],
        ["/bin/sh", "-c", "echo '--by-overdeck"],
        ["overdeck-hook", "PreToolUse", "--by-overdeck", "--plan"],
        ["overdeck-hook", "PreToolUse", "--plan", "relative", "--by-overdeck"],
    ],
)
def test_anything_else_is_started_as_it_is(argv, tmp_path):
    assert with_logs_apart(argv, tmp_path / "throwaway") == argv
    assert not (tmp_path / "throwaway").exists()


def test_plans_that_lie_in_the_throwaway_home_already_stay_where_they_are(tmp_path):
    argv = ["overdeck-hook", "PreToolUse", "--plan", str(tmp_path / "plans"), "--by-overdeck"]
    assert with_logs_apart(argv, tmp_path) == argv
