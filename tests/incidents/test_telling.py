"""Every door says the same of the same, also before anything is tried."""

from typing import TYPE_CHECKING

import pytest

from overdeck.errors import OverdeckError
from overdeck.incidents import available, current, log, noting, registry, story
from overdeck.incidents.verifying import verify

if TYPE_CHECKING:
    from conftest import Clone

AT = "2026-11-30T06:00:00.000Z"


def test_what_cannot_be_verified_is_told_as_verify_refuses_it(clone: "Clone") -> None:
    name, here = clone.open(), registry.load(clone.root)
    with pytest.raises(OverdeckError) as raised:
        verify(here, [name], AT, warn=pytest.fail)
    incident = current.read(here, pytest.fail).state.find(name)
    assert available.why_not(available.VERIFY, incident) == raised.value.message


def test_what_cannot_be_reopened_is_told_as_reopen_says_it(clone: "Clone") -> None:
    name, here = clone.open(), registry.load(clone.root)
    incident = noting.reopen(here, name, "x", AT, key=None, warn=pytest.fail).incident
    assert f"{available.why_not(available.REOPEN, incident)}\n" == clone.od("reopen", name, "--because", "x").out


def test_what_was_left_may_be_reopened_noted_and_resolved(clone: "Clone") -> None:
    name, here = clone.open(), registry.load(clone.root)
    clone.leave(name)
    incident = current.read(here, pytest.fail).state.find(name)
    for action in (available.REOPEN, available.NOTE, available.RESOLVE):
        assert available.why_not(action, incident) == ""


def test_the_stamp_of_a_log_changes_with_every_writer(clone: "Clone") -> None:
    seen = {log.stamp(clone.log)}
    clone.open("one")
    seen.add(log.stamp(clone.log))
    clone.open("two")
    seen.add(log.stamp(clone.log))
    (clone.log / "elsewhere.jsonl").write_text("")
    seen.add(log.stamp(clone.log))
    assert len(seen) == 4
    assert log.stamp(clone.log) in seen


def test_a_story_has_its_parts_and_what_was_lost(clone: "Clone") -> None:
    name, here = clone.open(), registry.load(clone.root)
    sha = clone.land("fix", f"Incident: {name}")
    assert clone.od("resolve", name, "--artifact", f"commit:{sha}").code == 0
    kept = current.Kept()
    key = kept.state(here).find(name).key
    proven = story.told(here, kept.state(here), key)
    assert proven is not None
    assert proven.evidence[0].startswith(f"verified: commit:{sha}, named by its trailer")
    assert proven.page.startswith("# ") and "## Fix" in proven.page
    clone.git("push", "--quiet", "--force", "origin", "HEAD~1:main")
    assert clone.od("verify", name).code == 4
    lost = story.told(here, kept.state(here), key)
    assert lost is not None
    assert lost.incident.state == "evidence-lost"
    assert any(f"lost: commit:{sha}: commit {sha[:12]} is not in origin/main" in line for line in lost.timeline)


def test_a_playbook_that_is_gone_is_a_warning_and_the_rest_is_told(clone: "Clone") -> None:
    name, here = clone.open(), registry.load(clone.root)
    for page in here.playbooks.iterdir():
        page.unlink()
    state = current.read(here, pytest.fail).state
    told = story.told(here, state, state.find(name).key)
    assert told is not None
    assert story.told(here, state, "gone") is None
    assert told.page == "" and told.timeline
    assert "the playbook of hook-timeout is missing" in told.warnings[0]
