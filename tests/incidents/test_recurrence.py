"""Trouble that is seen again after its end, judged by which commit the session ran on."""

from typing import TYPE_CHECKING

import pytest

from overdeck.incidents import registry
from overdeck.incidents.opening import Opened, Sighting, open_incident, record_sightings
from overdeck.incidents.recurrence import Recurrence
from overdeck.incidents.registry import Registry
from overdeck.incidents.resolving import Closing, resolve

if TYPE_CHECKING:
    from conftest import Clone

BEFORE, AT, AFTER = (f"2026-11-30T0{hour}:00:00.000Z" for hour in (5, 6, 7))


def _see(clone: "Clone", build: str | None = None, title: str = "t", seen_at: str | None = None) -> Opened:
    sighting = Sighting("hook-timeout", title, build=build, seen_at=seen_at)
    return open_incident(registry.load(clone.root), sighting, AFTER, warn=pytest.fail)


@pytest.fixture
def fixed(clone: "Clone") -> str:
    """The commit that ended the incident ``t``."""
    name = open_incident(registry.load(clone.root), Sighting("hook-timeout", "t"), BEFORE, warn=pytest.fail)
    sha = clone.land("fix", name.trailer)
    claim = Closing([name.incident.id], [f"commit:{sha}"])
    resolve(registry.load(clone.root), claim, AT, warn=pytest.fail)
    return sha


def test_on_a_build_with_the_fix_it_is_open_again(clone: "Clone", fixed: str) -> None:
    later = clone.land("later work")
    seen = _see(clone, build=later[:10])
    assert (seen.recurrence, seen.created) == (Recurrence.again, False)
    assert (seen.incident.state, seen.incident.episodes, seen.incident.suspect) == ("open", 2, False)


def test_the_fix_itself_is_a_build_with_the_fix(clone: "Clone", fixed: str) -> None:
    assert _see(clone, build=fixed).recurrence is Recurrence.again


def test_a_fix_after_which_it_came_back_is_taken_again_with_a_warning(clone: "Clone", fixed: str) -> None:
    name = _see(clone, build=fixed).incident.id
    other = clone.land("another fix", f"Incident: {name}")
    said = clone.od("resolve", name, f"--artifact=commit:{fixed}", f"--artifact=commit:{other}")
    assert said.code == 0
    assert f"commit:{fixed} ended {name} before, and it came back" in said.err
    assert f"commit:{other} ended" not in said.err
    assert said.out.count(fixed) == 1, "the evidence of this end, not of all"
    assert "ended" not in clone.od("resolve", name, f"--artifact=commit:{fixed}").err


def test_on_an_older_build_it_is_counted_and_stays_closed(clone: "Clone", fixed: str) -> None:
    seen = _see(clone, build=clone.git("rev-parse", f"{fixed}~1"))
    assert seen.recurrence is Recurrence.old_build
    assert (seen.incident.state, seen.incident.occurrences, seen.incident.old_builds) == ("resolved", 2, 1)
    shown = clone.od("show", seen.incident.id).out
    assert "recurrence: old-build" in shown
    assert "old build 1 of the occurrences" in shown


def test_on_a_branch_without_the_fix_it_is_an_old_build(clone: "Clone", fixed: str) -> None:
    clone.git("checkout", "--quiet", "-b", "topic", f"{fixed}~1")
    assert _see(clone, build=clone.commit("elsewhere")).recurrence is Recurrence.old_build


@pytest.mark.parametrize("build", [None, "0123456789" * 4])
def test_on_an_unknown_build_it_is_open_again_under_suspicion(
    clone: "Clone", fixed: str, build: str | None
) -> None:
    seen = _see(clone, build=build)
    assert (seen.recurrence, seen.incident.state, seen.incident.suspect) == (Recurrence.suspect, "open", True)
    assert "suspect" in clone.od("show", seen.incident.id).out


def test_a_shallow_clone_cannot_call_a_build_old(clone: "Clone", fixed: str) -> None:
    clone.land("later")
    shallow = clone.home / "shallow"
    clone.git("clone", "--quiet", "--depth=1", clone.git("remote", "get-url", "origin"), str(shallow))
    clone.git("-C", str(shallow), "fetch", "--quiet", "--depth=1", "origin", fixed)
    head = clone.git("rev-parse", "HEAD")
    here, sighting = registry.load(clone.root), Sighting("hook-timeout", "t", build=head)
    assert open_incident(here, sighting, AFTER, warn=pytest.fail, repo=shallow).recurrence is Recurrence.suspect


def test_what_was_seen_before_the_end_and_told_later_is_only_counted(clone: "Clone", fixed: str) -> None:
    seen = _see(clone, build=fixed, seen_at=BEFORE)
    assert (seen.recurrence, seen.incident.state) == (Recurrence.before_the_end, "resolved")


def test_a_clock_that_was_set_back_hides_no_return(clone: "Clone", fixed: str) -> None:
    """The host that wrote the end was an hour ahead, or ours has been put right since."""
    sighting = Sighting("hook-timeout", "t", build=fixed)
    seen = open_incident(registry.load(clone.root), sighting, BEFORE, warn=pytest.fail)
    assert (seen.recurrence, seen.incident.state) == (Recurrence.again, "open")


def test_a_suspect_can_be_confirmed_by_hand(clone: "Clone", fixed: str) -> None:
    name = _see(clone).incident.id
    said = clone.od("reopen", name, "--because", "the session ran on main", "--json")
    assert (said.data["recorded"], said.data["suspect"], said.data["episodes"]) == (True, False, 2)


def test_a_second_fix_is_the_one_that_counts(clone: "Clone", fixed: str) -> None:
    name = _see(clone, build=fixed).incident.id
    between = clone.land("between")
    second = clone.land("fix again", f"Incident: {name}")
    resolve(registry.load(clone.root), Closing([name], [f"commit:{second}"]), AT, warn=pytest.fail)
    assert _see(clone, build=between).recurrence is Recurrence.old_build
    assert _see(clone, build=second).recurrence is Recurrence.again


def test_of_two_fixes_a_build_needs_both(clone: "Clone", fixed: str) -> None:
    name = _see(clone, build=f"{fixed}").incident.id
    first, second = (clone.land(title, f"Incident: {name}") for title in ("half", "other half"))
    claim = Closing([name], [f"commit:{first}", f"commit:{second}"])
    resolve(registry.load(clone.root), claim, AT, warn=pytest.fail)
    assert _see(clone, build=first).recurrence is Recurrence.old_build


def test_a_program_has_no_fix_commit_so_what_lies_between_is_suspect(clone: "Clone") -> None:
    here = registry.load(clone.root)
    name = open_incident(here, Sighting("hook-timeout", "t"), BEFORE, warn=pytest.fail).incident.id
    broken = clone.git("rev-parse", "HEAD")
    between = clone.land("between")
    (clone.top / "r.sh").write_text("#!/bin/sh\ntest -e r.sh && test -e fixed\n")
    (clone.top / "r.sh").chmod(0o755)
    (clone.top / "fixed").touch()
    clone.git("add", "r.sh", "fixed")
    head = clone.land("fix")
    claim = Closing([name], ["repro:r.sh"], broken=broken)
    resolve(here, claim, AT, warn=pytest.fail, consent=lambda _: True, machine=list)
    assert _see(clone, build=broken).recurrence is Recurrence.old_build
    assert _see(clone, build=between).recurrence is Recurrence.suspect
    resolve(here, claim, AT, warn=pytest.fail, consent=lambda _: True, machine=list)
    assert _see(clone, build=head).recurrence is Recurrence.again


def test_three_episodes_make_the_class_recurring(clone: "Clone", fixed: str) -> None:
    clone.open("another fingerprint")
    assert clone.od("list", "--json").data["recurring"] == []
    _see(clone, build=fixed)
    assert clone.od("list", "--json").data["recurring"] == ["C033"]


def test_the_command_says_what_a_sighting_meant(clone: "Clone", fixed: str) -> None:
    args = ("open", "--class", "hook-timeout", "--title", "t", "--build")
    assert "is resolved: seen on an old build" in clone.od(*args, clone.git("rev-parse", f"{fixed}~1")).out
    said = clone.od(*args, fixed, "--json")
    assert (said.data["recurrence"], said.data["state"]) == ("again", "open")


def test_many_sightings_are_one_turn_and_alike_ones_one_incident(local: Registry) -> None:
    titles = ["a", "b", "a", "A"]
    seen = record_sightings(
        local,
        [Sighting("hook-timeout", title, key=str(n)) for n, title in enumerate(titles)],
        AT,
        warn=pytest.fail,
    )
    assert [one.created for one in seen] == [True, True, False, False]
    assert seen[0].incident == seen[3].incident
    assert seen[0].incident.occurrences == 3
    again = record_sightings(local, [Sighting("hook-timeout", "a", key="2")], AT, warn=pytest.fail)
    assert not again[0].recorded


def test_of_many_sightings_all_are_recorded_or_none(local: Registry) -> None:
    wrong = [Sighting("hook-timeout", "a"), Sighting("hook-timeout", " ")]
    with pytest.raises(Exception, match="--title is empty"):
        record_sightings(local, wrong, AT, warn=pytest.fail)
    assert not list(local.log.glob("*.jsonl"))
