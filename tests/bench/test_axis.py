"""Intervals drawn in text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.bench.axis import BAR, BOTH, ONE, Axis, Interval, axis, drawn, legend, trend_bars

RATIO = st.floats(1e-4, 1e4)


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    low, value, high = sorted(draw(st.tuples(RATIO, RATIO, RATIO | st.just(math.inf))))
    return Interval(min(value, 1e4), low, high)


def test_an_interval_lies_where_its_ratios_are_and_the_lines_stay_in_sight() -> None:
    on = Axis(0.5, 2.0, 41, 1.1)

    assert drawn(None, on) == " " * 20 + ONE + " " * 2 + BAR + " " * 17
    assert drawn(Interval(0.707, 0.6, 0.8), on) == "     ├────●───┤     " + ONE + "  " + BAR + " " * 17
    assert drawn(Interval(1.0, 0.9, 1.05), on)[17:23] == "├──●┤ "


def test_a_line_that_an_interval_crosses_is_seen_in_it() -> None:
    assert drawn(Interval(0.9, 0.8, 1.2), Axis(0.5, 2.0, 41, 1.1))[20] == "┼"


def test_what_lies_beyond_the_axis_is_an_arrow() -> None:
    on = Axis(0.8, 1.25, 21, 1.03)

    assert drawn(Interval(0.1, 0.05, 0.2), on)[0] == "◀"
    assert drawn(Interval(5.0, 4.0, 6.0), on)[-1] == "▶"
    assert drawn(Interval(1.0, 0.9, math.inf), on)[-1] == "▶"
    assert "●" not in drawn(Interval(5.0, 4.0, 6.0), on)


def test_a_bar_in_the_cell_of_1_is_seen_as_both() -> None:
    assert BOTH in drawn(None, Axis(0.01, 100.0, 11, 1.03))


@given(st.lists(intervals(), max_size=5), st.integers(0, 80), st.booleans())
def test_every_picture_has_the_width_that_was_asked_for_and_shows_every_value(
    found: list[Interval], width: int, near: bool
) -> None:
    on = axis(found, width=width, bar=1.03, near=near)
    for one in (None, *found):
        assert len(drawn(one, on)) == on.width == max(width, 3)
    assert len(legend(on)) == on.width
    if not near:
        assert all("●" in drawn(one, on) for one in found)


@given(st.lists(intervals(), max_size=5))
def test_an_axis_holds_1_and_the_bar_whatever_is_on_it(found: list[Interval]) -> None:
    on = axis(found, width=60, bar=1.03)
    assert 0 <= on.cell(1.0) < 60 and 0 <= on.cell(1.03) < 60


def test_the_legend_names_the_ends_and_1() -> None:
    assert legend(Axis(0.5, 2.0, 41, 1.1)) == "0.5" + " " * 16 + "1.0" + " " * 16 + "2.0"


def test_where_there_is_no_room_the_legend_keeps_1() -> None:
    assert legend(Axis(0.8, 1000.0, 21, 1.03)) == "1.0              1000"


def test_trend_bars_are_of_the_least_and_the_largest() -> None:
    assert trend_bars([1.0, 4.0, 2.0]) == "▁█▅"
    assert trend_bars([1.0]) == "▄"
    assert trend_bars([0.0, 1.0, 2.0]) == "▁▁█"
    assert trend_bars([1.0, 1.005, 0.999]) == "▄▄▄"


@pytest.mark.parametrize("width", [0, 1, 2])
def test_an_axis_is_never_narrower_than_its_three_marks(width: int) -> None:
    assert axis([], width=width, bar=1.03).width == 3
