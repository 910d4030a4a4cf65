"""The rows of the hooks page and its headline: the numbers are those of ``overdeck fires``."""

import pytest
from hookhomes import NOON, HookHome
from hookpages import ALL, on, opened, page_of
from pages import Seen
from textual.color import Color

from overdeck.telemetry.columns import as_record
from overdeck.telemetry.ingest import up_to_date
from overdeck.telemetry.report import report
from overdeck.tui.hooks.pane import Detail
from overdeck.tui.themes import NAMES, NO_COLOUR
from overdeck.wiring.unadopted import with_hooks

pytestmark = pytest.mark.timeout(60)


async def test_every_module_and_every_hook_that_is_none_has_a_row(still: HookHome) -> None:
    async with opened(still) as seen:
        assert seen.keys == ALL
        assert seen.row("silent")[:2] == ["silent", "removal-candidate"]
        assert "6 of 6: 4 modules, 2 un-adopted hooks" in seen.text("#status")


async def test_the_numbers_are_those_of_overdeck_fires(still: HookHome) -> None:
    with up_to_date(still.places, now=NOON) as (published, _):
        found = with_hooks(
            report(still.places, published, now=NOON, whole=True), still.places, published, still.root
        )
    async with opened(still) as seen:
        shown = page_of(seen).found
        assert shown is not None
        assert [as_record(row) for row in shown.all_rows] == [as_record(row) for row in found.all_rows]


async def test_at_80_by_24_cost_fires_and_verdict_of_every_row_are_on_the_screen(still: HookHome) -> None:
    async with opened(still) as seen:
        table = seen.table
        assert [str(column.label).strip(" ▲▼") for column in table.ordered_columns][:5] == [
            "module", "verdict", "cost", "fired", "by 3 d",
        ]  # fmt: skip
        assert sum(column.get_render_width(table) for column in table.ordered_columns[:5]) <= 80
        assert table.region.height >= 6


async def test_the_headline_answers_what_costs_most_what_fails_and_what_never_fires(still: HookHome) -> None:
    async with opened(still) as seen:
        assert seen.text("#headline") == (
            "in 7 d: dearest guard.py (96 %), failing fails · lifetime: never fired silent"
        )


async def test_a_screen_that_becomes_wide_shows_a_bar_for_each_day(still: HookHome) -> None:
    async with opened(still) as seen:
        assert len(seen.row("acts")[4]) == 10
        await seen.pilot.resize_terminal(200, 60)
        await seen.until(lambda: len(seen.row("acts")[4]) == 30)
        assert seen.page.query_one(Detail).has_class("-wide")
        await seen.pilot.resize_terminal(80, 24)
        await seen.until(lambda: len(seen.row("acts")[4]) == 10)


@pytest.mark.parametrize("theme", NAMES)
async def test_a_verdict_of_trouble_has_the_colour_of_trouble(still: HookHome, theme: str) -> None:
    async with opened(still, theme=theme) as seen:
        await on(seen, "silent")
        colours = {verdict: verdict_colour(seen, verdict) for verdict in ("broken", "active")}
        if theme == NO_COLOUR:
            assert set(colours.values()) == {None}
        else:
            error = seen.app.current_theme.error
            assert error is not None and colours["broken"] == Color.parse(error) != colours["active"]


def verdict_colour(seen: Seen, verdict: str) -> Color | None:
    """The colour in which it is written in the table, as the terminal gets it."""
    for strip in seen.app.screen._compositor.render_strips()[seen.table.region.y : seen.table.region.bottom]:
        for one in seen.app.get_line_filters():
            strip = strip.apply_filter(one, Color.parse("black"))
        for text, style, _control in strip:
            if text.strip() == verdict and style:
                plain = style.color is None or style.color.is_default
                return None if plain or style.color is None else Color.from_rich_color(style.color)
    raise AssertionError(f"{verdict} is not on the screen")
