"""What ``hookbench gate`` builds as head is the work tree, whole; what cannot be carried is INVALID, by name."""

import os
from pathlib import Path

import pytest
from gated import GATE, HOOK, assert_nothing_is_left, invalid

from overdeck.bench.gate.builds import build_sides, commit_of
from overdeck.errors import InvalidMeasurement


@pytest.fixture
def built(repository, tmp_path, monkeypatch):
    """Check both sides out without a build; what is asked of them while they are there is answered."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(repository.home))

    def ask(question):
        with build_sides(repository.root, commit_of("HEAD", repository.root), ["true"], lambda _: None) as sides:
            return question(sides)

    return ask


def test_a_file_whose_name_is_not_utf_8_is_carried(built, repository):
    name = os.fsdecode(b"caf\xe9")
    (repository.root / name).write_text("x")
    assert built(lambda sides: (sides.head.source / name).read_text()) == "x"


def test_a_repository_inside_the_work_tree_is_named(built, repository):
    (repository.root / "nested").mkdir()
    repository.git("init", "-q", "nested")
    (repository.root / "nested" / "hook").write_text(HOOK)
    with pytest.raises(InvalidMeasurement, match="nested/ is a repository of its own"):
        built(lambda _: None)


def test_a_submodule_is_named_whether_it_is_checked_out_or_not(built, repository):
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{repository.base},module")
    with pytest.raises(InvalidMeasurement, match="module/ is a repository of its own"):
        built(lambda _: None)


@pytest.mark.parametrize("target", ["{root}/hook", "../repository/hook"])
def test_a_link_into_the_work_tree_itself_is_named(built, repository, target):
    (repository.root / "front").symlink_to(target.format(root=repository.root))
    with pytest.raises(InvalidMeasurement, match="the link front leads"):
        built(lambda _: None)


def test_a_link_of_base_into_the_work_tree_is_named_too(gate, repository, tmp_path):
    (repository.root / "front").symlink_to(repository.root / "hook")
    repository.gate(GATE.format(base=repository.commit()))
    (repository.root / "front").unlink()
    invalid(gate("--json"), "not-carried", "in base the link front leads into the repository's own work tree")
    assert_nothing_is_left(repository, tmp_path)


def test_links_that_stay_inside_or_lead_to_the_system_are_carried(built, repository):
    (repository.root / "front").symlink_to("hook")
    (repository.root / "shell").symlink_to("/bin/sh")
    assert built(lambda sides: (sides.head.source / "front").read_text()) == HOOK
    assert built(lambda sides: (sides.head.source / "shell").readlink()) == Path("/bin/sh")


def test_a_tracked_file_that_was_deleted_is_none_of_heads(built, repository):
    (repository.root / "extra").write_text("x")
    repository.commit()
    (repository.root / "extra").unlink()
    assert built(lambda sides: [(side.source / "extra").exists() for side in sides]) == [True, True, False]


def test_without_git_the_gate_is_invalid(gate, environ, tmp_path):
    environ["PATH"] = str(tmp_path)
    invalid(gate("--json"), "no-git", "there is no git on PATH")


def test_the_folder_and_worktrees_of_a_killed_gate_are_removed_by_the_next(built, repository, tmp_path):
    dead = tmp_path / "hookbench-gate-dead"
    (dead / "base").mkdir(parents=True)
    (dead / "alive").touch()
    repository.git("worktree", "add", "-q", "--detach", str(dead / "base" / "tree"))
    assert built(lambda _: len(repository.git("worktree", "list").splitlines())) == 3
    assert not dead.exists()


def test_a_gate_at_work_keeps_its_worktrees_while_another_begins(built, repository):
    def second(sides) -> list[bool]:
        built(lambda _: None)
        return [Path(side.source).is_dir() for side in sides]

    assert built(second) == [True, True, True]
