"""Tables sort by any column, keep their cursor, show wide characters, and change only what changed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pages
import pytest
from fruits import BASKET, Fruit, FruitPage
from pages import SMALL, Seen, home_environ
from textual.widgets import DataTable

from overdeck.tui.surroundings import Surroundings

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    return Surroundings(home_environ(tmp_path), cwd=tmp_path, live=False)


@asynccontextmanager
async def fruits(around: Surroundings, size: tuple[int, int] = SMALL) -> AsyncIterator[Seen]:
    async with pages.opened(around, size=size, made={"hooks": FruitPage}) as seen:
        yield seen


def page(seen: Seen) -> FruitPage:
    assert isinstance(seen.page, FruitPage)
    return seen.page


async def load(seen: Seen, *basket: Fruit) -> None:
    page(seen).basket = basket
    before = page(seen).loads
    await seen.press("r")
    await seen.until(lambda: page(seen).loads > before)


def headers(seen: Seen) -> list[str]:
    return [str(column.label) for column in seen.table.ordered_columns]


async def test_the_largest_comes_first_and_equal_ones_by_key(around: Surroundings) -> None:
    async with fruits(around) as seen:
        assert seen.keys == ["apple", "quince", "柿 persimmon", "banana"]
        assert headers(seen)[:2] == ["name", "count ▼"]


async def test_s_goes_through_every_column_and_comes_back(around: Surroundings) -> None:
    async with fruits(around) as seen:
        sorted_by = []
        for _ in range(4):
            await seen.press("s")
            sorted_by.append(seen.table.sorted_by.key)
        assert sorted_by == ["colour", "long", "name", "count"]


async def test_S_turns_the_order_round(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("S")
        assert seen.keys[0] == "banana" and seen.keys[-1] == "apple"
        assert headers(seen)[1] == "count ▲"


async def test_a_click_on_a_header_sorts_and_a_second_one_turns_it_round(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.pilot.click(DataTable, offset=(3, 0))
        await seen.until(lambda: headers(seen)[0] == "name ▲")
        assert seen.keys[0] == "apple"
        await seen.pilot.click(DataTable, offset=(3, 0))
        await seen.until(lambda: headers(seen)[0] == "name ▼")
        assert seen.keys[-1] == "apple"


async def test_a_column_that_is_sorted_by_is_scrolled_into_sight(around: Surroundings) -> None:
    async with fruits(around, size=(40, 24)) as seen:
        assert seen.table.scroll_x == 0
        await seen.press("s", "s")
        await seen.until(lambda: seen.table.scroll_x > 0)
        await seen.press("s")
        assert seen.table.sorted_by.key == "name"


async def test_the_cursor_stays_on_its_row_when_the_order_changes_and_rows_come(around: Surroundings) -> None:
    async with fruits(around) as seen:
        seen.table.select("banana")
        await seen.press("S")
        assert (seen.table.selected_key, seen.table.cursor_row) == ("banana", 0)
        await load(seen, *BASKET, Fruit("date", 1, "brown"))
        assert (seen.table.selected_key, seen.table.cursor_row) == ("banana", 1)


async def test_where_the_row_is_gone_the_cursor_stays_on_its_line(around: Surroundings) -> None:
    async with fruits(around) as seen:
        seen.table.select("banana")
        await load(seen, *BASKET[2:])
        assert seen.table.cursor_row == 1
        await seen.until(lambda: seen.text("#detail") == f"on {seen.table.selected_key}")
        await load(seen)
        assert seen.table.selected is None
        await seen.until(lambda: seen.text("#detail") == "on None")


async def test_a_cell_that_changed_is_shown_without_filling_the_table_anew(around: Surroundings) -> None:
    async with fruits(around) as seen:
        before = seen.table.ordered_rows[0]
        await load(seen, Fruit("apple", 1_001, "green"), *BASKET[1:])
        assert seen.row("apple")[1:3] == ["1,001", "green"]
        assert seen.table.ordered_rows[0] is before


async def test_a_column_is_as_wide_as_its_widest_cell_on_the_screen(around: Surroundings) -> None:
    async with fruits(around) as seen:
        widths = [column.width for column in seen.table.ordered_columns]
        assert widths == [12, 7, 9, 30]  # 柿 and 🟠 take two cells; at most 30
        await load(seen, Fruit("柿" * 10, 1, "orange"))
        assert seen.table.ordered_columns[0].width == 20


async def test_moving_the_cursor_is_told_once_a_row(around: Surroundings) -> None:
    async with fruits(around) as seen:
        before = len(page(seen).picked)
        await seen.press("down", "down")
        await seen.until(lambda: seen.text("#detail") == f"on {seen.table.selected_key}")
        assert page(seen).picked[before:] == seen.keys[1:3]


async def test_a_number_that_the_edge_cuts_is_an_ellipsis_not_another_number(around: Surroundings) -> None:
    async with fruits(around) as seen:
        name, count, *_ = (column.get_render_width(seen.table) for column in seen.table.ordered_columns)
        seen.table.styles.width = name + count - 1
        await seen.until(lambda: seen.table.size.width == name + count - 1)
        lines = [seen.table.render_line(y).text for y in range(1, 5)]
        assert all(line[name:].strip() == "…" for line in lines if line.strip()), lines
