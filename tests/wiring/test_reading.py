"""Whatever stands at a path, reading it ends, and says in words why it gave nothing."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from overdeck.errors import ExitCode, OverdeckError
from overdeck.files import LARGEST_BYTES, read_regular
from overdeck.wiring.clients.opening import opened
from overdeck.wiring.reading import below, is_regular, listed, missing, present, real
from overdeck.wiring.settings import read_settings

pytestmark = pytest.mark.timeout(20)


def folder(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's name may have 107 bytes
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100_000_000)


ODD = {
    "a folder": (folder, "a folder"),
    "a pipe": (pipe, "a pipe"),
    "a socket": (listening, "a socket"),
    "a link to a device": (link_to("/dev/zero"), "a device"),
    "a link to a pipe": (lambda path: (pipe(path.with_name("p")), path.symlink_to("p")), "a pipe"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "symbolic links"),
    "100 MB": (sparse, "larger than"),
}


@pytest.mark.parametrize(("make", "why"), ODD.values(), ids=ODD)
def test_what_is_no_readable_file_is_refused_in_words(tmp_path, make, why):
    path = tmp_path / "settings.json"
    make(path)

    with pytest.raises(OverdeckError) as caught:
        read_settings(path)
    assert why in caught.value.message
    assert caught.value.exit_code is ExitCode.NOT_FOUND


@pytest.mark.parametrize(("make", "why"), ODD.values(), ids=ODD)
def test_in_a_usual_place_it_is_a_problem_of_that_file(tmp_path, make, why):
    path = tmp_path / "settings.json"
    make(path)

    (file,) = opened("claude", path, scope="user")
    assert why in file.problems[0].reason
    assert (file.all_handlers, file.scope) == ((), "user")


def test_a_file_that_may_not_be_read_is_a_problem(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text("{}")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("root reads everything")

    (file,) = opened("claude", path, scope="user")
    assert "Permission denied" in file.problems[0].reason


def test_a_link_to_nothing_is_told_apart_from_nothing(tmp_path):
    (tmp_path / "link").symlink_to("gone")

    assert [file.problems[0].reason for file in opened("claude", tmp_path / "link", scope="")] == [
        "it was not read: it is a link to nothing"
    ]
    assert list(opened("claude", tmp_path / "gone", scope="")) == []


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "file/under/it"])
def test_an_impossible_path_is_none(tmp_path, name):
    (tmp_path / "file").write_text("{}")

    for file in opened("claude", tmp_path / name, scope=""):
        assert file.problems
    with pytest.raises(OSError):
        read_regular(tmp_path / name)
    assert listed(tmp_path / name) == []


def test_a_file_at_the_limit_is_read_and_one_byte_more_is_not(tmp_path):
    path = tmp_path / "settings.json"
    path.write_bytes(b" " * LARGEST_BYTES)
    assert len(read_regular(path)) == LARGEST_BYTES

    path.write_bytes(b" " * (LARGEST_BYTES + 1))
    with pytest.raises(OSError):
        read_regular(path)


def test_claude_code_drops_a_file_beyond_the_limit(tmp_path):
    sparse(tmp_path / "settings.json")

    assert [file.dropped for file in opened("claude", tmp_path / "settings.json", scope="")] == [True]
    assert [file.dropped for file in opened("codex", tmp_path / "settings.json", scope="")] == [False]


def test_a_file_of_proc_ends_as_well():
    assert read_regular(Path("/proc/self/status"))


def test_a_folder_is_listed_by_name_and_not_without_end(tmp_path):
    for name in "cab":
        (tmp_path / name).touch()

    assert [path.name for path in listed(tmp_path)] == ["a", "b", "c"]
    assert len(listed(tmp_path, most=2)) == 2


def test_a_tree_is_walked_to_its_depth_and_no_further(tmp_path):
    deep = tmp_path
    for _ in range(10):
        deep /= "d"
        deep.mkdir()
        (deep / "x.md").touch()

    assert len(below(tmp_path, ".md")) == 6
    assert len(below(tmp_path, ".md", most=3)) == 3


def test_present_sees_what_cannot_be_read(tmp_path):
    (tmp_path / "loop").symlink_to("loop")

    assert present(tmp_path / "loop")
    assert not present(tmp_path / "none")


IMPOSSIBLE = ["a\0b", "x" * 300, "x/" * 5000, "\ud800", "file/under/it", "loop", "loop/x"]


@pytest.mark.parametrize("name", IMPOSSIBLE, ids=range(len(IMPOSSIBLE)))
def test_any_text_may_be_asked_for_as_a_path(tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")

    assert missing(tmp_path / name) and missing(f"{tmp_path}/{name}")
    assert not is_regular(tmp_path / name) and not is_regular(f"{tmp_path}/{name}")


def test_what_is_there_is_not_missing(tmp_path):
    (tmp_path / "file").touch()

    assert not missing(tmp_path) and not is_regular(tmp_path)
    assert not missing(tmp_path / "file") and is_regular(tmp_path / "file")


def test_a_loop_of_links_leads_somewhere(tmp_path):
    (tmp_path / "loop").symlink_to("loop")

    assert real(tmp_path / "loop").parent == tmp_path.resolve()
