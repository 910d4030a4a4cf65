"""The call that a gate must not let pass, and that hurts nothing where it does."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from overdeck.authoring.fleet import load_fleet, recipe_for
from overdeck.dispatch.manifest import Manifest, read_manifest
from overdeck.paths import Places
from overdeck.probe.canaries import Canary, canary_of
from overdeck.probe.clients import NAMES, named
from overdeck.probe.room import Room


def gate(folder: Path, *commands: str, **more: Any) -> Manifest:
    """A gate of the user's own, with a case that must be denied for each command."""
    folder = folder / "mine"
    folder.mkdir()
    text = 'id = "mine"\npack = "own"\nsummary = "s"\nclass = "gate"\n[events]\nPreToolUse = "Bash"\n'
    (folder / "module.toml").write_text(text)
    (folder / "module.py").write_text("def evaluate(call):\n    return None\n")
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash"}
    cases = [
        {"name": "n", "payload": payload | {"tool_input": {"command": one}}, "expect": "deny"} | more
        for one in commands
    ]
    (folder / "matrix.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return read_manifest(str(folder), user=True)


def test_a_gate_of_the_users_own_is_played_as_it_stands_only_where_the_client_asks_first(tmp_path: Path) -> None:
    mine = gate(tmp_path, "touch launch")
    canary = canary_of(mine, named("claude"), Room(tmp_path))
    assert (canary.call and canary.call.input["command"], canary.guard) == ("touch launch", "asking")


@pytest.mark.parametrize("name", [name for name in NAMES if not named(name).guards])
def test_elsewhere_its_command_stands_where_no_shell_runs_it(tmp_path: Path, name: str) -> None:
    canary = canary_of(gate(tmp_path, "a; touch ran", "touch ran"), named(name), Room(tmp_path))
    assert canary.call == named(name).shell("false && touch ran")
    assert canary.why
    subprocess.run(["sh", "-c", "false && touch ran"], cwd=tmp_path, check=False)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "command",
    [
        "a; touch ran",
        "a || touch ran",
        "a & touch ran",
        "a\ntouch ran",
        "a | touch ran",
        "a 'b",
        "a $(touch ran)",
        "a `b`",
    ],
)
def test_what_is_more_than_one_command_is_played_by_no_client_that_would_run_it(
    tmp_path: Path, command: str
) -> None:
    assert canary_of(gate(tmp_path, command), named("codex"), Room(tmp_path)).call is None


def test_a_case_that_needs_files_or_another_config_is_no_canary(tmp_path: Path) -> None:
    files = gate(tmp_path, "git commit -m x", files={"repo/a": "b"}, repository="repo")
    assert canary_of(files, named("claude"), Room(tmp_path)) == Canary(
        "mine", None, why="its matrix has no shell call that it must deny"
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_gates_that_are_on_have_a_call_that_runs_nothing_of_the_users(
    name: str, tmp_path: Path
) -> None:
    fleet = load_fleet(recipe_for(Places.from_environment({"HOME": str(tmp_path)})))
    gates = [one for one in fleet.enabled if one.cls == "gate" and "PreToolUse" in one.events]
    canaries = {one.id: canary_of(one, named(name), Room(tmp_path)) for one in gates}
    assert {one.guard for one in canaries.values()} == {"plain"}
    assert {id for id, one in canaries.items() if one.call is None} == set()


def test_every_shipped_gate_whether_on_or_off_has_a_canary_or_a_reason_for_having_none(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".config" / "overdeck").mkdir(parents=True)
    (home / ".config" / "overdeck" / "config.toml").write_text('packs = ["guards", "gates"]\n')
    fleet = load_fleet(recipe_for(Places.from_environment({"HOME": str(home)})))
    gates = [one for one in fleet.enabled if one.cls == "gate" and "PreToolUse" in one.events]
    assert {"commit-gate", "ledger-gate"} < {one.id for one in gates}
    for name in NAMES:
        for one in gates:
            canary = canary_of(one, named(name), Room(tmp_path))
            assert canary.call or canary.why
