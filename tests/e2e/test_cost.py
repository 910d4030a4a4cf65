"""What a call costs, roughly: the figures are in bench/RESULTS.md; here only what would be a disaster fails.

Measurements run alone and last (``-m measure``).
"""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from homes import Home
from messyhomes import messy

from overdeck.authoring.fleet import built_front, front_argv, interpreter, recipe_for, write_plans
from overdeck.bench import command_arm, compare, event_arm
from overdeck.paths import Places, shipped
from overdeck.process import argv_of

pytestmark = pytest.mark.measure


def payload(name: str) -> bytes:
    return shipped("bench", "scenarios", "payloads", f"{name}.bash.json").read_bytes()


@pytest.fixture
def front(tmp_path: Path) -> list[str]:
    recipe = recipe_for(Places.from_environment({"HOME": str(tmp_path)}))
    write_plans(recipe)
    return front_argv(recipe, "PreToolUse")


def test_one_call_in_which_nothing_acts_is_near_the_start_of_true(front: list[str]) -> None:
    if built_front() is None:
        pytest.skip("no native front is installed")
    outcome = compare(
        command_arm("true", ["/bin/true"]), command_arm("front", front), payload=payload("noop"), pairs=40
    )
    assert outcome.ratios["cpu"].low < 1.4


def test_one_call_in_which_gates_act_is_a_few_interpreters(front: list[str]) -> None:
    bare = command_arm("python", [str(interpreter()), "-I", "-S", "-c", "pass"])
    outcome = compare(bare, command_arm("front", front), payload=payload("deny"), pairs=20, allow_diff=True)
    assert outcome.ratios["cpu"].low < 4


def test_the_dispatcher_is_many_times_cheaper_than_the_hooks_it_stands_for(front: list[str]) -> None:
    swarm = event_arm("swarm", shipped("bench", "scenarios", "swarm", "settings.json"), "PreToolUse", "Bash")
    outcome = compare(swarm, command_arm("front", front), payload=payload("noop"), pairs=10, allow_diff=True)
    assert outcome.verdict == "faster"
    assert outcome.ratios["cpu"].high < 0.2


def test_a_hookbench_command_says_the_same(tmp_path: Path, front: list[str]) -> None:
    given = str(shipped("bench", "scenarios", "payloads", "noop.bash.json"))
    ran = Home(tmp_path / "home").run(
        "hookbench",
        "ab",
        "/bin/true",
        " ".join(front),
        "--payload",
        given,
        "--pairs",
        "10",
        "--allow-diff",
        "--json",
    )
    assert ran.code == 0, ran.err
    assert 0 < ran.data["ratio"]["cpu"]["value"] < 20


def test_an_audit_of_sixty_hooks_costs_little_more_than_a_command_that_does_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.settings.parent.mkdir()
    project = messy(home, 60, plugins=10, broken=True)
    plain = tmp_path / "plain.py"
    plain.write_text(
        "import typer\napp = typer.Typer(add_completion=False)\n\n\n@app.command()\n"
        "def main() -> None:\n    pass\n\n\napp()\n"
    )
    arms = [
        replace(command_arm(name, argv), home=home.root, cwd=project)
        for name, argv in (
            ("plain", [sys.executable, str(plain)]),
            ("audit", [*argv_of("overdeck"), "audit"]),
        )
    ]
    outcome = compare(*arms, payload=b"{}", pairs=20, allow_diff=True)

    assert outcome.ratios["cpu"].low < 1.8
