"""The fires log, followed while it grows, is rotated, and is torn."""

from typing import TYPE_CHECKING

import pytest

from overdeck.telemetry.tail import START_BYTES, FiresTail

if TYPE_CHECKING:
    from conftest import User


def modules(tail: FiresTail) -> list[str]:
    return [fire.module for fire in tail.read()]


@pytest.fixture
def tail(user: "User") -> FiresTail:
    return FiresTail(user.places)


def test_what_stands_there_shows_first_and_then_only_what_is_new(user: "User", tail: FiresTail) -> None:
    user.fire("a")
    assert modules(tail) == ["a"]
    assert modules(tail) == []
    user.fire("b")
    user.fire("c")
    assert modules(tail) == ["b", "c"]


def test_without_a_log_it_waits_for_one(user: "User", tail: FiresTail) -> None:
    assert modules(tail) == []
    user.fire("a")
    assert modules(tail) == ["a"]


def test_a_torn_line_waits_for_its_end(user: "User", tail: FiresTail) -> None:
    user.fire("a")
    raw = user.places.fires_log.read_bytes()
    user.append(user.places.fires_log, raw[:20])
    assert modules(tail) == ["a"]
    user.append(user.places.fires_log, raw[20:])
    assert modules(tail) == ["a"]


def test_a_rotation_by_rename_loses_nothing_and_tells_nothing_twice(user: "User", tail: FiresTail) -> None:
    log = user.places.fires_log
    user.fire("a")
    assert modules(tail) == ["a"]
    user.fire("late")
    log.rename(log.with_name("hook-fires.1.jsonl"))
    user.fire("new")
    assert modules(tail) == ["late", "new"]
    assert modules(tail) == []


def test_a_log_that_was_cut_is_read_from_its_start(user: "User", tail: FiresTail) -> None:
    user.fire("a")
    user.fire("b")
    assert modules(tail) == ["a", "b"]
    user.places.fires_log.write_bytes(b"")
    user.fire("c")
    assert modules(tail) == ["c"]


def test_lines_that_are_no_fires_are_passed_over(user: "User", tail: FiresTail) -> None:
    user.append(user.places.fires_log, b'nonsense\n\xff\xfe\n{"ts":"2026-11-30T10:00:00Z"}\n')
    user.fire("a")
    assert modules(tail) == ["a"]


def test_of_a_long_log_only_the_end_is_read_at_first(user: "User", tail: FiresTail) -> None:
    for number in range(1000):
        user.fire(f"m{number}")
    found = modules(tail)
    assert found[-1] == "m999"
    assert found[0] != "m0"
    assert len(found) < START_BYTES / 80
