"""What a work tree holds, as one id: every content change makes another, a commit does not."""

import os
import time
from pathlib import Path

import pytest
from repositories import git

from overdeck.dispatch.kit.worktree import GitFailed, Snapshots, top_of


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "scratch").mkdir()
    git(work, "init", "-q", "-b", "main", home=tmp_path)
    (work / "a.txt").write_text("one\n")
    (work / ".gitignore").write_text("*.log\n")
    git(work, "add", "-A", home=tmp_path)
    git(work, "commit", "-q", "-m", "Start", home=tmp_path)
    return work


def held(work: Path) -> str:
    with Snapshots(str(work), str(work.parent / "scratch"), time.monotonic() + 20) as snapshots:
        return snapshots.take()


def test_it_is_the_tree_of_everything_that_is_not_ignored(work: Path, tmp_path: Path) -> None:
    assert held(work) == git(work, "rev-parse", "HEAD^{tree}", home=tmp_path)
    (work / "noise.log").write_text("x")
    assert held(work) == git(work, "rev-parse", "HEAD^{tree}", home=tmp_path)


@pytest.mark.parametrize(
    "change", ["an edit", "a new file", "a file gone", "a mode", "an edit of the same length"]
)
def test_every_change_makes_another(work: Path, change: str) -> None:
    before = held(work)
    if change == "an edit":
        (work / "a.txt").write_text("two lines\nhere\n")
    elif change == "a new file":
        (work / "b.txt").write_text("")
    elif change == "a file gone":
        (work / "a.txt").unlink()
    elif change == "a mode":
        (work / "a.txt").chmod(0o755)
    else:
        (work / "a.txt").write_text("two\n")  # within the same second as the index
    assert held(work) != before


def test_a_change_that_only_the_age_of_the_index_gives_away_is_seen(work: Path, tmp_path: Path) -> None:
    """A file as new as git's index may have changed behind it: git looks again, so must whoever copies it."""
    git(work, "config", "core.trustctime", "false", home=tmp_path)
    moment = (1_700_000_000 * 10**9, 1_700_000_000 * 10**9)
    os.utime(work / "a.txt", ns=moment)
    git(work, "add", "--refresh", "a.txt", home=tmp_path)
    os.utime(work / ".git" / "index", ns=moment)
    before = held(work)
    (work / "a.txt").write_text("two\n")
    os.utime(work / "a.txt", ns=moment)
    assert held(work) != before


def test_staging_and_committing_a_part_change_nothing(work: Path, tmp_path: Path) -> None:
    (work / "a.txt").write_text("two\n")
    (work / "b.txt").write_text("b\n")
    before = held(work)
    git(work, "add", "a.txt", home=tmp_path)
    assert held(work) == before
    git(work, "commit", "-q", "-m", "Part", home=tmp_path)
    assert held(work) == before


def test_the_repository_is_left_as_it_was(work: Path, tmp_path: Path) -> None:
    (work / "b.txt").write_text("b\n")

    def files() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in (work / ".git").rglob("*") if path.is_file()}

    before = files()
    held(work)
    assert files() == before
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_merge_with_conflicts_and_a_linked_work_tree_have_one(work: Path, tmp_path: Path) -> None:
    git(work, "checkout", "-q", "-b", "side", home=tmp_path)
    (work / "a.txt").write_text("side\n")
    git(work, "commit", "-qam", "Side", home=tmp_path)
    git(work, "checkout", "-q", "main", home=tmp_path)
    (work / "a.txt").write_text("main\n")
    git(work, "commit", "-qam", "Main", home=tmp_path)
    git(work, "worktree", "add", "-q", str(tmp_path / "linked"), "side", home=tmp_path)
    assert held(tmp_path / "linked") == git(work, "rev-parse", "side^{tree}", home=tmp_path)
    with pytest.raises(AssertionError):
        git(work, "merge", "side", home=tmp_path)
    assert held(work) != git(work, "rev-parse", "HEAD^{tree}", home=tmp_path)


def test_a_repository_without_a_commit_and_one_with_strange_names(tmp_path: Path) -> None:
    work = tmp_path / 'we:ird "x" \\ é'
    work.mkdir()
    (tmp_path / "scratch").mkdir()
    git(work, "init", "-q", home=tmp_path)
    empty = held(work)
    (work / "a\nb").write_text("x")
    (work / os.fsdecode(b"\xff")).write_text("x")
    assert held(work) != empty


def test_what_cannot_be_told_is_said_in_time(work: Path, tmp_path: Path) -> None:
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nexec sleep 30\n")
    (slow / "git").chmod(0o755)
    started = time.monotonic()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(GitFailed, match="did not end in time"):
        patch.setenv("PATH", f"{slow}:{os.environ['PATH']}")
        top_of(str(work), time.monotonic() + 0.3)
    assert time.monotonic() - started < 5


def test_outside_of_a_work_tree_there_is_no_top(tmp_path: Path) -> None:
    assert top_of(str(tmp_path), time.monotonic() + 20) == ""
