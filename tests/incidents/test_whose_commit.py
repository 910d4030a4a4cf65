"""A SHA that cannot be the fix: whose it is, and what is done about it, has a message of its own each time."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from repositories import git, remote_and_clone

if TYPE_CHECKING:
    from conftest import Clone
    from homes import Ran


def refused(clone: "Clone", sha: str, *more: str, cwd: Path | None = None) -> "Ran":
    """What resolve says of a commit that it does not take; the log stays as it is."""
    name = clone.open()
    before = clone.log_bytes()
    said = clone.od("resolve", name, f"--artifact=commit:{sha}", "--json", *more, cwd=cwd)
    assert clone.log_bytes() == before
    return said


def hint(said: "Ran") -> str:
    return said.document["error"]["hint"]


@pytest.fixture
def other(clone: "Clone", tmp_path: Path) -> Path:
    """Another repository, beside the clone, with a commit of its own."""
    (tmp_path / "there").mkdir()
    top = remote_and_clone(tmp_path / "there", home=clone.home)
    git(top, "commit", "--quiet", "--allow-empty", "-m", "other", home=clone.home)
    top.rename(tmp_path / "other")
    return tmp_path / "other"


def head(top: Path, clone: "Clone") -> str:
    return git(top, "rev-parse", "HEAD", home=clone.home)


def test_one_of_a_repository_beside_is_called_that_and_its_place_named(clone, other) -> None:
    said = refused(clone, head(other, clone))
    said.check_refused(5, "other-repository", f"is not of {clone.top}: it is of another repository, {other}")
    assert f"--repo {other}" in hint(said)


def test_one_of_the_repository_that_the_caller_stands_in_too(clone, tmp_path) -> None:
    far = tmp_path / "far" / "away"
    far.mkdir(parents=True)
    top = remote_and_clone(far, home=clone.home)
    git(top, "commit", "--quiet", "--allow-empty", "-m", "other", home=clone.home)
    said = refused(clone, head(top, clone), "--registry", str(clone.root), cwd=top)
    said.check_refused(5, "other-repository", str(top))


def test_one_of_another_clone_has_not_been_pushed(clone, second_clone) -> None:
    sha = second_clone.commit("fix")
    clone.land("something that the other clone does not have yet")
    said = refused(clone, sha)
    said.check_refused(5, "not-pushed", f"only in another clone of it, {second_clone.top}")
    assert hint(said).startswith(f"git -C {second_clone.top} push origin {sha[:12]}:main")


def test_one_whose_objects_were_fetched_from_elsewhere_has_another_history(clone, other) -> None:
    clone.git("fetch", "--quiet", str(other), "HEAD:refs/heads/theirs")
    refused(clone, head(other, clone)).check_refused(4, "other-history", "no history in common with origin/main")


def test_one_that_nobody_nearby_knows_is_unknown(clone, other) -> None:
    refused(clone, "deadbeef" * 5).check_refused(5, "unknown-commit", "may be mistyped")


def test_one_behind_the_cut_of_a_shallow_clone(clone, tmp_path) -> None:
    first = clone.git("rev-list", "--max-parents=0", "HEAD")
    clone.land("later")
    shallow = tmp_path / "deep" / "shallow"
    clone.git("clone", "--quiet", "--depth=1", clone.git("remote", "get-url", "origin"), str(shallow))
    said = refused(clone, first, "--repo", str(shallow), "--registry", str(clone.root), cwd=clone.home)
    said.check_refused(5, "shallow-clone", "may lie behind the cut")


@pytest.mark.parametrize("what", ["HEAD^{tree}", "HEAD:incidents/registry.toml"])
def test_an_object_that_is_no_commit_is_called_what_it_is(clone, what) -> None:
    sha = clone.git("rev-parse", what)
    refused(clone, sha).check_refused(4, "not-a-commit", f"is a {clone.git('cat-file', '-t', sha)} of")


def test_a_tag_is_answered_with_the_commit_that_it_names(clone) -> None:
    clone.git("tag", "-a", "-m", "x", "v1")
    said = refused(clone, clone.git("rev-parse", "v1"))
    said.check_refused(4, "not-a-commit", "is a tag of")
    assert f"--artifact commit:{clone.git('rev-parse', 'HEAD')}" in hint(said)


def test_of_a_commit_ahead_of_the_branch_the_push_is_named(clone) -> None:
    sha = clone.commit("fix")
    said = refused(clone, sha)
    said.check_refused(4, "not-landed", "has not landed")
    assert hint(said).startswith(f"git -C {clone.top} push origin {sha[:12]}:main")


def test_of_a_commit_beside_the_branch_the_merge_is_named(clone) -> None:
    sha = clone.commit("fix")
    clone.git("reset", "--quiet", "--hard", "HEAD~1")
    clone.land("something else")
    assert hint(refused(clone, sha)).startswith("merge it into origin/main and push that")


def test_of_a_branch_that_was_never_pushed_the_push_is_named(clone) -> None:
    (clone.root / "registry.toml").write_text('prefix = "OD"\nbranch = "origin/trunk"\n')
    said = refused(clone, clone.git("rev-parse", "HEAD"))
    said.check_refused(5, "branch-not-pushed", "origin has no branch trunk")
    assert hint(said).startswith(f"git -C {clone.top} push -u origin HEAD:trunk")


def test_an_artifact_among_the_incidents_is_sent_behind_its_option(clone) -> None:
    name = clone.open()
    said = clone.od("resolve", name, "commit:0fe056c2d", "--json")
    said.check_refused(2, "artifact-as-incident", "commit:0fe056c2d is an artifact")
    assert hint(said) == f"od-incidents resolve {name} --artifact commit:0fe056c2d"
