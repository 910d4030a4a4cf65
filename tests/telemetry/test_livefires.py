"""The fires log, followed while it grows, is rotated, and is torn."""

from typing import TYPE_CHECKING

import pytest

from overdeck.telemetry.livefires import MOST, new_fires
from overdeck.telemetry.tail import Tail

if TYPE_CHECKING:
    from conftest import User


class Follower:
    """Looks again and again."""

    def __init__(self, user: "User") -> None:
        self._user = user
        self._tail: Tail | None = None

    def modules(self) -> list[str]:
        found = new_fires(self._user.places, self._tail)
        self._tail = found.tail
        assert found.problems == []
        return [fire.module for fire in found.fires]


@pytest.fixture
def follower(user: "User") -> Follower:
    return Follower(user)


def test_what_stands_there_shows_first_and_then_only_what_is_new(user: "User", follower: Follower) -> None:
    user.fire("a")
    assert follower.modules() == ["a"]
    assert follower.modules() == []
    user.fire("b")
    user.fire("c")
    assert follower.modules() == ["b", "c"]


def test_without_a_log_it_waits_for_one(user: "User", follower: Follower) -> None:
    assert follower.modules() == []
    user.fire("a")
    assert follower.modules() == ["a"]


def test_a_torn_line_waits_for_its_end(user: "User", follower: Follower) -> None:
    user.fire("a")
    raw = user.places.fires_log.read_bytes()
    user.append(user.places.fires_log, raw[:20])
    assert follower.modules() == ["a"]
    user.append(user.places.fires_log, raw[20:])
    assert follower.modules() == ["a"]


def test_a_rotation_by_rename_loses_nothing_and_tells_nothing_twice(user: "User", follower: Follower) -> None:
    log = user.places.fires_log
    user.fire("a")
    assert follower.modules() == ["a"]
    user.fire("late")
    log.rename(log.with_name(f"{log.name}.20261130T120000000000"))
    user.fire("new")
    assert follower.modules() == ["late", "new"]
    assert follower.modules() == []


def test_a_log_that_was_cut_is_read_from_its_start(user: "User", follower: Follower) -> None:
    user.fire("a")
    user.fire("b")
    assert follower.modules() == ["a", "b"]
    user.places.fires_log.write_bytes(b"")
    user.fire("c")
    assert follower.modules() == ["c"]


def test_lines_that_are_no_fires_are_passed_over(user: "User", follower: Follower) -> None:
    user.append(user.places.fires_log, b'nonsense\n\xff\xfe\n{"ts":"2026-11-30T10:00:00Z"}\n')
    user.fire("a")
    assert follower.modules() == ["a"]


def test_of_a_long_log_only_the_newest_show_at_first(user: "User", follower: Follower) -> None:
    for number in range(MOST + 10):
        user.fire(f"m{number}")
    found = follower.modules()
    assert (found[0], found[-1], len(found)) == ("m10", f"m{MOST + 9}", MOST)
