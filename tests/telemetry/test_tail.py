"""What a log gained between two looks, whatever was renamed, cut or removed in between."""

import os
from pathlib import Path

import pytest

from overdeck.paths import Places
from overdeck.telemetry import tail
from overdeck.telemetry.tail import gained


@pytest.fixture
def places(tmp_path: Path) -> Places:
    made = Places.from_environment({"HOME": str(tmp_path)})
    made.state.mkdir(parents=True)
    return made


def add(path: Path, *lines: str, end: str = "\n") -> None:
    with path.open("a") as log:
        log.write("\n".join(lines) + end)


def test_without_a_log_there_is_nothing_and_its_first_lines_are_all_new(places: Places) -> None:
    first = gained(places)
    assert (first.lines, first.written, first.problems) == ([], None, [])
    add(places.calls_log, "a", "b")
    assert gained(places, first.tail).lines == [b"a", b"b"]


def test_only_what_was_added_is_read_again(places: Places) -> None:
    add(places.calls_log, "a")
    first = gained(places)
    assert first.lines == [b"a"]
    assert gained(places, first.tail).lines == []
    add(places.calls_log, "b")
    assert gained(places, first.tail).lines == [b"b"]


def test_a_torn_line_waits_for_its_end(places: Places) -> None:
    add(places.calls_log, "a", "half", end="")
    first = gained(places)
    assert first.lines == [b"a"]
    add(places.calls_log, " and half")
    assert gained(places, first.tail).lines == [b"half and half"]


def test_a_rotation_between_two_looks_loses_nothing_and_tells_nothing_twice(places: Places) -> None:
    add(places.calls_log, "a")
    look = gained(places)
    add(places.calls_log, "b")
    os.utime(places.calls_log, ns=(10**18, 10**18))
    places.calls_log.rename(places.calls_log.with_name("hook-calls.jsonl.20260101T000000000000"))
    add(places.calls_log, "c")
    os.utime(places.calls_log, ns=(2 * 10**18, 2 * 10**18))
    places.calls_log.rename(places.calls_log.with_name("hook-calls.jsonl.20260101T000001000000"))
    add(places.calls_log, "d")
    look = gained(places, look.tail)

    assert look.lines == [b"b", b"c", b"d"]
    assert gained(places, look.tail).lines == []


def test_a_line_that_is_still_written_into_the_renamed_file_is_found(places: Places) -> None:
    add(places.calls_log, "a")
    segment = places.calls_log.with_name("hook-calls.jsonl.20260101T000000000000")
    places.calls_log.rename(segment)
    add(places.calls_log, "b")
    look = gained(places)
    add(segment, "late")

    assert gained(places, look.tail).lines == [b"late"]


def test_segments_that_were_there_before_the_first_look_are_not_told(places: Places) -> None:
    add(places.calls_log.with_name("hook-calls.jsonl.20250101T000000000000"), "old")
    add(places.calls_log, "new")

    assert gained(places).lines == [b"new"]


def test_a_log_that_was_begun_anew_in_its_place_is_read_from_its_start(places: Places) -> None:
    add(places.calls_log, "a long first line")
    look = gained(places)
    places.calls_log.write_text("b\n")

    assert gained(places, look.tail).lines == [b"b"]


def test_the_first_look_reads_the_end_of_a_long_log_in_whole_lines(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "BACK_BYTES", 10)
    add(places.calls_log, "x" * 50, "1234", "5678")
    look = gained(places)

    assert look.lines == [b"5678"] and look.skipped == 51


def test_more_than_memory_is_for_is_passed_over_and_said(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    add(places.calls_log, "a")
    look = gained(places)
    monkeypatch.setattr(tail, "MOST_BYTES", 10)
    add(places.calls_log, "x" * 50, "1234", "5678")
    look = gained(places, look.tail)

    assert look.lines == [b"5678"] and look.skipped == 51
    assert gained(places, look.tail).lines == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_log_that_may_not_be_read_is_said(places: Places) -> None:
    add(places.calls_log, "a")
    places.calls_log.chmod(0)

    assert gained(places).problems == [f"{places.calls_log} cannot be read: Permission denied"]
