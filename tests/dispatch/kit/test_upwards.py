"""The work trees around a folder: the innermost first, and nothing of what is no path."""

from pathlib import Path

import pytest

from overdeck.dispatch.kit.upwards import MAX_PATH, work_trees
from overdeck.git import work_trees as paths


def test_the_innermost_work_tree_comes_first_whether_its_git_is_a_folder_or_a_file(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "sub" / "linked"
    (tmp_path / "outer" / ".git").mkdir(parents=True)
    (inner / "deep").mkdir(parents=True)
    (inner / ".git").write_text("gitdir: elsewhere\n")
    found = [top for top in work_trees(f"{inner}/deep") if top.startswith(str(tmp_path))]
    assert found == [str(inner), str(tmp_path / "outer")]
    assert next(paths(inner)) == inner, "a top is in its own work tree"


def test_a_folder_that_is_gone_is_in_the_work_tree_that_it_was_in(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert next(work_trees(f"{tmp_path}/gone/deeper/")) == str(tmp_path)


@pytest.mark.parametrize("folder", ["", "relative", "/a\0b", "/" + "a/" * MAX_PATH, "/\ud800"])
def test_what_is_no_path_is_in_no_work_tree(folder: str) -> None:
    assert [top for top in work_trees(folder) if top != "/"] == []
