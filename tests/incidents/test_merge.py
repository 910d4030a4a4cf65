"""Two clones of one registry: each writes its own file, and git merges them without a conflict."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
