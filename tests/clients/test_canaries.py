"""What the canaries of the shipped gates do in a client where nothing denies them: nothing that hurts."""

import subprocess
from pathlib import Path

import pytest
from clientrig import Rig
from pinned import found

from overdeck.authoring.fleet import load_fleet, recipe_for
from overdeck.paths import Places
from overdeck.probe.clients import NAMES, SUBAGENT, named
from overdeck.probe.mock.script import DONE
from overdeck.probe.shipped import needs_of, prepare

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower

PREPARED = ("agent-guard", "skill-guard", "commit-gate", "ledger-gate")
"""The gates whose canaries need something in the room."""


def head(repository: Path) -> str:
    git = ["git", "-C", str(repository), "rev-parse", "--verify", "HEAD"]
    return subprocess.run(git, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_canary_that_nobody_denies_commits_nothing_and_ends(name: str, tmp_path: Path) -> None:
    rig = Rig(named(name), found(name), tmp_path)
    rig.only("guards", "gates")
    config = rig.room.home / ".config" / "overdeck" / "config.toml"
    config.write_text(config.read_text() + '[modules.ledger-gate]\nledger = "refs.bib"\n')
    fleet = load_fleet(recipe_for(Places.from_environment({"HOME": str(rig.room.home)})))
    calls = []
    for gate in (gate for gate in fleet.enabled if gate.id in PREPARED):
        needs = needs_of(gate, rig.client, rig.room)
        if needs is not None and not isinstance(needs.call, str):
            prepare(needs, gate, rig.room)
            calls.append(needs.call)
    assert len(calls) == 4
    before = head(rig.room.project)
    files = {file for file in rig.room.project.rglob("*") if ".git" not in file.parts}
    seen = rig.play(*calls, marked={SUBAGENT: [DONE]}, guard="plain", deadline_s=100)
    assert (seen.code, seen.ended) == (0, "")
    assert len(seen.results) == len(calls)
    assert head(rig.room.project) == before
    made = {file for file in rig.room.project.rglob("*") if ".git" not in file.parts} - files
    assert {file.name for file in made} <= {"drafts", "overdeck-probe.md"}
