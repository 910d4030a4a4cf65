"""Reading the log: damaged lines are set aside and named, the rest loads."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from overdeck.incidents import log
from overdeck.incidents.event import seal

if TYPE_CHECKING:
    from conftest import Clone


def _lines(count: int) -> list[bytes]:
    return [seal("noted", lamport=n, at="t", writer="w", incident="i", n=n)[1] for n in range(1, count + 1)]


def _written(folder: Path, content: bytes, name: str = "w.jsonl") -> log.History:
    (folder / name).write_bytes(content)
    return log.read(folder)


def _numbers(history: log.History) -> list[int]:
    return [event.body["n"] for event in history.events]


def test_all_files_are_read_in_one_order(tmp_path: Path) -> None:
    lines = _lines(6)
    (tmp_path / "b.jsonl").write_bytes(b"\n".join(lines[0::2]) + b"\n")
    assert _numbers(_written(tmp_path, b"\n".join(lines[1::2]) + b"\n", "a.jsonl")) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "damage",
    [
        b"\xff\xfe\x00not utf-8",
        b"",
        b"<<<<<<< HEAD",
        b'{"id":"x"}',
        b"null",
        b"[]",
        b"\x00" * 4096,
        b'{"id":"' + b"0" * 32 + b'","v":1}',
    ],
)
def test_a_damaged_line_is_named_and_its_neighbours_load(tmp_path: Path, damage: bytes) -> None:
    one, two = _lines(2)
    history = _written(tmp_path, b"\n".join((one, damage, two)) + b"\n")
    assert _numbers(history) == [1, 2]
    assert [found.line for found in history.damages] == ([2] if damage else [])


def test_a_line_torn_by_a_killed_writer_is_named(tmp_path: Path) -> None:
    one, two = _lines(2)
    history = _written(tmp_path, one + b"\n" + two[:-9])
    assert _numbers(history) == [1]
    assert "line 2, is cut or was changed" in log.describe(history.damages)[0]


def test_a_whole_last_line_without_its_newline_is_an_event(tmp_path: Path) -> None:
    assert _numbers(_written(tmp_path, b"\n".join(_lines(2)))) == [1, 2]


def test_line_ends_rewritten_by_git_do_no_harm(tmp_path: Path) -> None:
    assert _numbers(_written(tmp_path, b"\r\n".join(_lines(3)) + b"\r\n")) == [1, 2, 3]


def test_a_copied_file_counts_once(tmp_path: Path) -> None:
    _written(tmp_path, b"\n".join(_lines(3)) + b"\n")
    shutil.copy(tmp_path / "w.jsonl", tmp_path / "copy.jsonl")
    assert _numbers(log.read(tmp_path)) == [1, 2, 3]


def test_many_damaged_lines_are_counted_and_not_listed(tmp_path: Path) -> None:
    told: Sequence[str] = log.describe(_written(tmp_path, b"nonsense\n" * 1_000).damages)
    assert len(told) == 6
    assert told[-1].endswith("995 more damaged lines are set aside")


def test_something_that_is_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    history = _written(tmp_path, _lines(1)[0] + b"\n")
    assert _numbers(history) == [1]
    assert "cannot be read" in log.describe(history.damages)[0]


def test_a_log_folder_that_git_did_not_keep_is_an_empty_log(tmp_path: Path) -> None:
    assert log.read(tmp_path / "log") == log.History((), ())


def test_the_command_tells_of_damage_and_shows_the_rest(clone: "Clone") -> None:
    kept = clone.open("kept")
    path = next(clone.log.glob("*.jsonl"))
    path.write_bytes(path.read_bytes() + b"\xff\xfenonsense\n")
    said = clone.od("list", "--json")
    assert [one["id"] for one in said.data["incidents"]] == [kept]
    assert said.document["warnings"] == [f"{path}, line 2, is not an event; it is set aside"]


def test_an_incident_that_is_not_found_comes_with_the_damage_that_may_be_why(clone: "Clone") -> None:
    name = clone.open()
    path = next(clone.log.glob("*.jsonl"))
    path.write_bytes(path.read_bytes().replace(b"hook-timeout", b"hook-Timeout"))
    said = clone.od("show", name)
    assert said.code == 3
    assert "its id is not the hash of its bytes" in said.err
