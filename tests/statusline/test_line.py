"""One line that fits, whatever is in it, and that never leaves out what is wrong."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from overdeck.statusline.line import Facts, cut, printable, width

TEXT = st.text(max_size=60) | st.text("模型ガ🚨e\u0301a", max_size=60)


@given(st.builds(
    Facts, session=TEXT, model=TEXT, calls=st.integers(0, 20), mean_us=st.integers(0, 10**9),
    failing=st.lists(TEXT, max_size=12), incidents=st.none() | st.integers(0, 9999), update=TEXT,
), st.integers(20, 120), st.booleans())  # fmt: skip
def test_every_line_fits_and_is_one_line(facts: Facts, room: int, colour: bool) -> None:
    line = facts.line(room, colour)
    bare = re.sub(r"\x1b\[[0-9]+m", "", line)
    assert bare and bare.isprintable() and width(bare) <= room
    assert colour or "\x1b" not in line


@pytest.mark.parametrize("text", ["abc", "模型ガイド", "a模b", "é", "✗ · …", "ｆｕｌｌ", "ﾊﾝｶｸ"])
def test_columns_are_counted_as_a_terminal_has_them(text: str) -> None:
    assert width(text) == cell_len(text)


FULL = Facts(
    session="the long refactoring of everything", model="Opus 4.8 (1M context)", calls=20, mean_us=840,
    failing=["style-check"], incidents=3, update="0.3.0 on disk",
)  # fmt: skip


@pytest.mark.parametrize(("room", "line"), [
    (200, "the long refactoring of everything · Opus 4.8 (1M context) · hooks 0.8 ms/call · ✗ style-check · 3 incidents"
          " · 0.3.0 on disk"),
    (100, "the long re… · Opus 4.8 (1… · hooks 0.8 ms/call · ✗ style-check · 3 incidents · 0.3.0 on disk"),
    (80, "the long re… · Opus 4.8 (1… · ✗ style-check · 3 incidents · 0.3.0 on disk"),
    (60, "the long re… · ✗ style-check · 3 incidents · 0.3.0 on disk"),
    (45, "✗ style-check · 3 incidents · 0.3.0 on disk"),
    (20, "✗ style-check · 3 i…"),
])  # fmt: skip
def test_what_is_least_needed_goes_first_and_alarms_go_last(room: int, line: str) -> None:
    assert FULL.line(room, False) == line


def test_a_line_with_nothing_to_say_is_not_empty() -> None:
    assert Facts().line(80, False) == "overdeck"


def test_colours_mark_what_is_wrong() -> None:
    line = FULL.line(200, True)
    assert "\x1b[31m✗ style-check\x1b[0m" in line and "\x1b[33m3 incidents\x1b[0m" in line


def test_a_cut_never_halves_a_wide_letter() -> None:
    assert [cut("模型", room) for room in (4, 3, 2, 1)] == ["模型", "模…", "…", "…"]


def test_what_could_move_the_cursor_is_replaced() -> None:
    assert printable("a\x1b[2Jb\nc\u202ed") == "a�[2Jb�c�d"
