"""The copy that measured hooks work in: whole where it is small, and without a way back to the real project."""

import os
from pathlib import Path

import pytest

from overdeck.wiring import projectcopy
from overdeck.wiring.projectcopy import copy_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("a")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    return folder


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    folder.mkdir()
    return folder


def test_files_and_their_modes_are_copied(project: Path, target: Path) -> None:
    assert copy_project(project, target) == ""
    assert (target / "src" / "a.py").read_text() == "a"
    assert os.access(target / "run.sh", os.X_OK)


def test_a_link_stays_inside_the_copy(project: Path, target: Path) -> None:
    (project / "absolute").symlink_to(project / "src" / "a.py")
    (project / "src" / "up").symlink_to("../run.sh")
    copy_project(project, target)

    assert (target / "absolute").resolve() == target / "src" / "a.py"
    assert (target / "src" / "up").resolve() == target / "run.sh"


def test_a_link_that_leads_out_becomes_a_file_or_nothing(project: Path, target: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b").write_text("b")
    (project / "file").symlink_to(tmp_path / "outside" / "b")
    (project / "folder").symlink_to(tmp_path / "outside")
    copy_project(project, target)

    assert (target / "file").read_text() == "b" and not (target / "file").is_symlink()
    assert not (target / "folder").exists()


def test_a_repository_is_copied_and_one_that_is_elsewhere_is_not(project: Path, target: Path) -> None:
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")

    assert copy_project(project, target) == "" and (target / ".git" / "HEAD").exists()
    (project / ".git" / "HEAD").unlink()
    (project / ".git").rmdir()
    (project / ".git").write_text("gitdir: /elsewhere\n")
    other = target / "other"
    other.mkdir()
    assert "leads out of the project" in copy_project(project, other) and not (other / ".git").exists()


def test_a_project_that_is_too_big_is_copied_in_part_and_that_is_said(
    project: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projectcopy, "LIMIT_FILES", 3)
    (project / ".claude").mkdir()
    (project / ".claude" / "hook.py").write_text("x")

    assert "small files at its top" in copy_project(project, target)
    assert (target / ".claude" / "hook.py").exists() and (target / "run.sh").exists()
    assert not (target / "src").exists()


def test_a_home_is_no_project(project: Path, target: Path) -> None:
    assert "holds your home" in copy_project(project, target, home=project / "src")
    assert list(target.iterdir()) == []


def test_what_is_no_file_is_left_out(project: Path, target: Path) -> None:
    os.mkfifo(project / "pipe")

    assert copy_project(project, target) == ""
    assert not (target / "pipe").exists()
