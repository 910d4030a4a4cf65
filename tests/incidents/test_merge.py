"""Two clones of one registry: each writes its own file, and git merges them without a conflict."""

from typing import TYPE_CHECKING

import pytest

from overdeck.incidents import log
from overdeck.incidents.fold import fold

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from conftest import Clone


def _save(clone: "Clone") -> None:
    clone.git("add", "incidents")
    clone.git("commit", "--quiet", "-m", "log")


def _ids(clone: "Clone") -> set[str]:
    return {row["id"] for row in clone.od("list", "--state", "all", "--json").data["incidents"]}


def test_what_two_clones_recorded_apart_is_all_there_after_a_merge(clone: "Clone", second_clone: "Clone") -> None:
    ids = {clone.open("here"), second_clone.open("there")}
    _save(clone)
    _save(second_clone)
    clone.git("push", "--quiet", "origin", "main")
    second_clone.git("pull", "--quiet", "--no-rebase", "--no-edit")
    assert _ids(second_clone) == ids
    assert len(list(second_clone.log.glob("*.jsonl"))) == 2


def test_an_incident_opened_in_one_clone_is_resolved_in_the_other(clone: "Clone", second_clone: "Clone") -> None:
    name = clone.open()
    _save(clone)
    clone.git("push", "--quiet", "origin", "main")
    second_clone.git("pull", "--quiet")
    sha = second_clone.land("fix", f"Incident: {name}")
    assert second_clone.od("resolve", name, "--artifact", f"commit:{sha}").code == 0
    _save(second_clone)
    second_clone.git("push", "--quiet", "origin", "HEAD:main")
    clone.git("pull", "--quiet")
    assert clone.od("show", name, "--json").data["state"] == "resolved"


def test_two_branches_of_one_clone_merge_although_both_grew_the_same_file(clone: "Clone") -> None:
    ids = {clone.open("before")}
    _save(clone)
    clone.git("checkout", "--quiet", "-b", "topic")
    ids.add(clone.open("on the branch"))
    _save(clone)
    clone.git("checkout", "--quiet", "main")
    ids.add(clone.open("on main"))
    _save(clone)
    clone.git("merge", "--quiet", "--no-edit", "topic")
    assert _ids(clone) == ids
    assert clone.od("list", "--json").document["warnings"] == []


SIXTEENTH = """
import sys, time
from pathlib import Path
from overdeck.incidents import noting, registry
from overdeck.incidents.opening import Sighting, open_incident
root, who = registry.load(Path(sys.argv[1])), sys.argv[2]
at = "2026-11-30T06:00:00.000Z"
for turn in range(100):
    if turn % 4:
        noting.note(root, sys.argv[3], f"{who} {turn}", at, key=None, warn=print, patience_s=300)
    else:
        seen = Sighting("hook-timeout", f"trouble {turn % 8}", session=f"{who} {turn}")
        open_incident(root, seen, at, warn=print, patience_s=300)
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_sixteen_processes_and_a_merge_of_two_clones_lose_nothing(
    clone: "Clone", second_clone: "Clone", python: "Callable[..., subprocess.Popen[bytes]]"
) -> None:
    name = clone.open("the one that all write notes on")
    _save(clone)
    clone.git("push", "--quiet", "origin", "main")
    second_clone.git("pull", "--quiet")
    writers = [python(SIXTEENTH, str(clone.root), f"writer {n}", name) for n in range(16)]
    writers += [python(SIXTEENTH, str(second_clone.root), f"other {n}", name) for n in range(2)]
    assert [(writer.communicate()[0], writer.returncode) for writer in writers] == [(b"", 0)] * 18
    assert len(log.read(clone.log).events) == 1 + 1600
    _save(clone)
    _save(second_clone)
    clone.git("push", "--quiet", "origin", "main")
    second_clone.git("pull", "--quiet", "--no-rebase", "--no-edit")
    second_clone.git("push", "--quiet", "origin", "main")
    clone.git("pull", "--quiet")
    histories = [log.read(one.log) for one in (clone, second_clone)]
    assert [len(history.events) for history in histories] == [1 + 1800] * 2
    assert [history.damages for history in histories] == [(), ()]
    assert fold(histories[0].events) == fold(histories[1].events)
    said = {event.body.get("text") or event.body.get("session") for event in histories[0].events}
    wanted = [f"writer {n}" for n in range(16)] + ["other 0", "other 1"]
    assert {f"{who} {turn}" for who in wanted for turn in range(100)} <= said


def _alike_in_both(clone: "Clone", second_clone: "Clone") -> tuple[str, str]:
    """One trouble, opened in two clones apart from each other and merged by git; both have it twice."""
    names = clone.open("same"), second_clone.open("Same")
    _meet(clone, second_clone)
    return names


def _meet(clone: "Clone", second_clone: "Clone") -> None:
    for one in (clone, second_clone):
        if one.git("status", "--porcelain", "incidents"):
            _save(one)
    clone.git("pull", "--quiet", "--no-rebase", "--no-edit")
    clone.git("push", "--quiet", "origin", "main")
    second_clone.git("pull", "--quiet", "--no-rebase", "--no-edit")
    second_clone.git("push", "--quiet", "origin", "main")
    clone.git("pull", "--quiet", "--no-rebase", "--no-edit")


def test_one_trouble_opened_in_two_clones_is_one_incident_from_the_next_count_on(
    clone: "Clone", second_clone: "Clone"
) -> None:
    names = _alike_in_both(clone, second_clone)
    assert len(_ids(clone)) == 2, "reading changes nothing"
    kept = clone.open("same")
    assert _ids(clone) == {kept}
    (other,) = set(names) - {kept}
    shown = clone.od("show", other, "--json").data
    assert (shown["id"], shown["occurrences"], shown["merged"]) == (kept, 3, [other])
    assert f"merged    {other}" in clone.od("show", kept).out


def test_two_clones_that_merge_the_same_incidents_mean_the_same(clone: "Clone", second_clone: "Clone") -> None:
    _alike_in_both(clone, second_clone)
    kept = [one.open("same") for one in (clone, second_clone)]
    assert kept[0] == kept[1]
    _meet(clone, second_clone)
    states = [fold(log.read(one.log).events) for one in (clone, second_clone)]
    assert states[0] == states[1]
    assert [(one.id, one.occurrences) for one in states[0].incidents] == [(kept[0], 4)]


def test_a_commit_that_names_a_merged_incident_resolves_what_it_was_merged_into(
    clone: "Clone", second_clone: "Clone"
) -> None:
    names = _alike_in_both(clone, second_clone)
    kept = clone.open("same")
    (other,) = set(names) - {kept}
    sha = clone.land("fix", f"Incident: {other}")
    said = clone.od("resolve", kept, "--artifact", f"commit:{sha}", "--json")
    assert (said.code, said.data["evidence"][0]["linked_by"]) == (0, "trailer")
