"""``od-incidents init``: in the open, once, and nothing of anybody's overwritten."""

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.incidents import creating, registry, taxonomy

if TYPE_CHECKING:
    from conftest import Clone


def _files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_it_writes_a_registry_at_the_top_of_the_work_tree(clone: "Clone") -> None:
    clone.git("rm", "-rq", "incidents")
    deep = clone.top / "src" / "deep"
    deep.mkdir(parents=True)
    said = clone.od("init", cwd=deep)
    assert said.code == 0
    assert f"wrote {clone.root}/registry.toml" in said.out
    assert len(said.out.splitlines()) < 10, "forty pages are a number"
    assert registry.load(clone.root).branch == "origin/main"
    assert taxonomy.load(clone.root / "taxonomy.toml").find("C033").slug == "hook-timeout"


def test_the_command_that_commits_it_works_as_it_is_told(clone: "Clone") -> None:
    clone.git("rm", "-rq", "incidents")
    clone.git("commit", "-qm", "without")
    told = clone.od("init").err
    command = re.search(r"next: (git .*)", told)
    assert command is not None, told
    subprocess.run(["sh", "-c", command[1]], env=clone.env, check=True, capture_output=True)
    assert clone.git("status", "--porcelain") == ""
    assert "od-incidents search" in told


def test_a_second_time_it_changes_nothing_and_says_so(clone: "Clone") -> None:
    before = _files(clone.root)
    said = clone.od("init")
    assert (said.code, said.out) == (0, f"{clone.root} is a registry already; nothing was changed\n")
    assert _files(clone.root) == before


def test_the_json_form_lists_what_was_written(clone: "Clone", tmp_path: Path) -> None:
    said = clone.od("init", "--registry", str(tmp_path / "other"), "--json")
    assert said.document["schema"] == "overdeck.incidents.init/1"
    assert str(tmp_path / "other" / "registry.toml") in said.data["written"]


def test_outside_git_it_refuses_and_names_the_option(clone: "Clone", tmp_path: Path) -> None:
    bare = tmp_path / "plain"
    bare.mkdir()
    said = clone.od("init", cwd=bare)
    assert said.code == 2
    assert "is in no git work tree" in said.err
    assert "od-incidents init --registry DIR" in said.err
    assert list(bare.iterdir()) == []


def test_a_taxonomy_that_is_there_stays(tmp_path: Path) -> None:
    root = tmp_path / "incidents"
    root.mkdir()
    (root / "taxonomy.toml").write_text("# ours\n")
    creating.create(root)
    assert (root / "taxonomy.toml").read_text() == "# ours\n"


def test_a_run_that_was_cut_short_left_no_registry_and_can_be_repeated(tmp_path: Path) -> None:
    root = tmp_path / "incidents"
    root.mkdir()
    (root / "log").write_text("a file where a folder belongs")
    with pytest.raises(OverdeckError) as raised:
        creating.create(root)
    assert raised.value.exit_code is ExitCode.USAGE
    assert not (root / "registry.toml").exists()
    (root / "log").unlink()
    assert root / "registry.toml" in creating.create(root).written


@pytest.mark.parametrize("name", ['we"ird\\name', "ünïcode", "a\nb", "x" * 200])
def test_any_folder_name_gives_a_registry_that_can_be_read(tmp_path: Path, name: str) -> None:
    root = tmp_path / name / "incidents"
    creating.create(root)
    assert registry.load(root).name


def test_no_verb_makes_a_registry_by_being_used(clone: "Clone", tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    said = clone.od("open", "--class", "hook-timeout", "--title", "x", cwd=plain)
    assert said.code == 3
    assert "od-incidents init" in said.err
    assert not (clone.home / ".local").exists()


def test_this_repositorys_own_registry_is_as_init_would_have_made_it() -> None:
    own = Path(__file__).resolve().parents[2] / "incidents"
    assert registry.load(own) == registry.Registry(own, "overdeck", "OD", "origin/main")
    assert (own / "log" / ".gitattributes").read_bytes() == creating.GIT_ATTRIBUTES


def test_the_rules_of_a_fix_and_a_map_to_fill_in_are_part_of_every_registry(tmp_path: Path) -> None:
    made = creating.create(tmp_path / "incidents")
    names = {path.name for path in made.written}
    assert {"never-touch.md", "placement-map.md"} <= names
    assert "no fix may do" in (made.root / "never-touch.md").read_text()
    assert "overdeck/dispatch" not in (made.root / "placement-map.md").read_text()
