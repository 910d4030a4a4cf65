"""Files below one folder and nowhere else: no link, dots or name leads out of it, and no file is ever half there."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from overdeck.dispatch.kit.ownfolder import MAX_NAME, Folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_its_owners_only_and_so_is_a_folder_that_was_made(tmp_path: Path) -> None:
    with Folder(str(tmp_path / "kept")) as folder, folder.below("2026-11") as month:
        month.replace("a.md", b"text")
    assert stat.S_IMODE((tmp_path / "kept" / "2026-11").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "kept" / "2026-11" / "a.md").stat().st_mode) == 0o600
    assert (tmp_path / "kept" / "2026-11" / "a.md").read_bytes() == b"text"


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    with Folder(str(tmp_path)) as folder:
        folder.replace("a", b"old and longer")
        folder.replace("a", b"new")
        assert folder.read("a", 100) == b"new"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("name", ["", ".", "..", "../out", "a/b", "/etc/x", "a\0b", "n" * (MAX_NAME + 1)])
def test_what_is_more_than_a_name_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "in" / "a").mkdir(parents=True)
    with Folder(str(tmp_path / "in")) as folder:
        for act in (
            folder.below,
            folder.remove,
            lambda n: folder.replace(n, b""),
            lambda n: folder.create(n, b""),
        ):
            with pytest.raises(ValueError, match="name"):
                act(name)
    assert names(tmp_path) == ["in"]


@pytest.mark.parametrize("path", ["", "relative", "/tmp/../etc", "..", "/tmp/."])
def test_a_folder_is_named_by_an_absolute_path_without_dots(path: str) -> None:
    with pytest.raises(ValueError, match="absolute"):
        Folder(path)


def test_a_link_is_no_folder_and_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "2026-11").symlink_to(outside)
    (tmp_path / "link").symlink_to(outside)
    with pytest.raises(OSError):
        Folder(str(tmp_path / "link"))
    with Folder(str(tmp_path / "in")) as folder, pytest.raises(OSError):
        folder.below("2026-11")
    assert names(outside) == []


def test_a_link_with_the_files_name_is_replaced_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").symlink_to(outside)
    with Folder(str(tmp_path / "in")) as folder:
        with pytest.raises(OSError):
            folder.read("a", 10)
        folder.replace("a", b"text")
        assert folder.read("a", 10) == b"text"
    assert outside.read_text() == "mine"


def test_a_link_with_the_temporary_files_name_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f".a.{os.getpid()}.tmp").symlink_to(outside)
    with Folder(str(tmp_path / "in")) as folder:
        folder.replace("a", b"text")
    assert outside.read_text() == "mine"
    assert names(tmp_path / "in") == ["a"]


def test_a_folder_that_is_exchanged_while_it_is_open_is_not_left(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "in").mkdir()
    with Folder(str(tmp_path / "in")) as folder:
        (tmp_path / "in").rename(tmp_path / "moved")
        (tmp_path / "in").symlink_to(outside)
        folder.replace("a", b"text")
    assert names(outside) == []
    assert names(tmp_path / "moved") == ["a"]


def test_a_folder_whose_parent_is_missing_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Folder(str(tmp_path / "mistyped" / "notes"))
    with pytest.raises(FileNotFoundError):
        Folder(str(tmp_path / "notes"), make=False)
    assert names(tmp_path) == []


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    with Folder(str(tmp_path)) as folder, pytest.raises(OSError, match="no regular file"):
        folder.read("a", 10)


def test_of_many_at_once_one_creates_and_the_file_is_whole(tmp_path: Path) -> None:
    body = (
        "import sys\nfrom overdeck.dispatch.kit.ownfolder import Folder\n"
        "with Folder(sys.argv[1]) as folder:\n"
        "    print(folder.create('a', sys.argv[2].encode() * 10000))\n"
    )

    def run(letter: str) -> str:
        argv = [sys.executable, "-c", body, str(tmp_path), letter]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()

    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(run, "abcdefgh"))
    assert said.count("True") == 1
    assert (tmp_path / "a").read_text() == "abcdefgh"[said.index("True")] * 10000
    assert names(tmp_path) == ["a"]


def test_on_a_full_disk_the_old_file_stays_and_nothing_is_left_behind(tmp_path: Path) -> None:
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", tmp_path], check=False).returncode:
        pytest.skip("this user may not mount a tmpfs")
    try:
        with Folder(str(tmp_path)) as folder:
            folder.replace("a", b"old")
            with pytest.raises(OSError, match="No space"):
                folder.replace("a", b"x" * 100_000)
            with pytest.raises(OSError, match="No space"):
                folder.create("b", b"x" * 100_000)
        assert names(tmp_path) == ["a"]
        assert (tmp_path / "a").read_text() == "old"
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


def test_old_files_go_when_there_are_many_and_what_a_killed_process_left_goes_sooner(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, age in (("new", 0), ("old", 100_000), (".x.1.tmp", 10_000), (".y.2.tmp", 10)):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (tmp_path.stat().st_mtime - age,) * 2)
    with Folder(str(tmp_path)) as folder:
        folder.forget(50_000, 10)
        assert len(names(tmp_path)) == 5, "few files are not looked through"
        folder.forget(50_000, 2)
    assert names(tmp_path) == [".y.2.tmp", "folder", "new"]
