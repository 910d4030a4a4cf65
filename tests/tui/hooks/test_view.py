"""What of the report the hooks page shows: sorted, filtered, in groups, of a window, suspects alone."""

import pytest
from hookhomes import HookHome
from hookpages import ALL, on, opened, page_of
from textual.widgets import DataTable, Input

from overdeck.tui.forms import Form
from overdeck.tui.hooks.pane import Detail

pytestmark = pytest.mark.timeout(60)


async def test_s_sorts_by_the_next_column_and_S_the_other_way(still: HookHome) -> None:
    async with opened(still) as seen:
        while "by cost" not in seen.text("#status"):
            before = seen.text("#status")
            await seen.press("s")
            await seen.until(lambda before=before: seen.text("#status") != before)
        assert seen.keys[0] == "guard.py"
        assert "--sort share --json" in seen.text("#twin")
        await seen.press("S")
        await seen.until(lambda: seen.keys[-1] == "guard.py")


async def test_every_column_sorts_and_is_one_that_the_command_knows(still: HookHome) -> None:
    from overdeck.telemetry.columns import column

    async with opened(still) as seen:
        for one in list(seen.table.ordered_columns):
            seen.table.sort_by(str(one.key.value))
            await seen.settled()
            assert sorted(seen.keys) == sorted(ALL)
            assert column(str(one.key.value)).key == one.key.value


async def test_a_click_on_a_header_sorts_by_it_and_a_second_click_flips(still: HookHome) -> None:
    async with opened(still) as seen:
        await seen.pilot.click(DataTable, offset=(3, 0))
        await seen.until(lambda: seen.keys[0] == "acts")
        await seen.pilot.click(DataTable, offset=(3, 0))
        await seen.until(lambda: seen.keys[-1] == "acts")


async def test_a_filter_narrows_as_it_is_typed_and_escape_shows_all(still: HookHome) -> None:
    async with opened(still) as seen:
        await seen.press("slash", *"un-adop")
        await seen.until(lambda: seen.keys == ["監査🛡.py", "guard.py"])
        assert "2 of 6" in seen.text("#status")
        await seen.press("enter")
        await seen.until(lambda: seen.table.has_focus)
        await seen.press("escape")
        await seen.until(lambda: len(seen.keys) == 6)


async def test_a_filter_that_fits_none_says_so_in_the_place_of_the_rows(still: HookHome) -> None:
    async with opened(still) as seen:
        await seen.press("slash", *"zzz")
        await seen.until(lambda: seen.keys == [])
        assert "none fits 'zzz'; esc shows all 6" in seen.table.render_line(1).text


async def test_the_pane_is_at_its_top_again_on_another_row(still: HookHome) -> None:
    async with opened(still) as seen:
        await on(seen, "fails")
        pane = seen.page.query_one(Detail)
        await seen.settled()
        pane.scroll_end(animate=False)
        await seen.until(lambda: pane.scroll_y > 0)
        await seen.press("down")
        await seen.until(lambda: pane.scroll_y == 0)


async def test_letters_typed_into_the_filter_are_no_commands(still: HookHome) -> None:
    async with opened(still) as seen:
        await seen.press("slash", *"ktxo")
        await seen.until(lambda: seen.page.query_one("#filter", Input).value == "ktxo")
        assert seen.said == [] and not isinstance(seen.app.screen, Form)


async def test_z_shows_suspects_then_candidates_then_all(still: HookHome) -> None:
    async with opened(still) as seen:
        await seen.press("z")
        await seen.until(lambda: seen.keys == ["fails", "silent"])
        assert seen.text("#twin") == "as JSON: overdeck fires suspects --since 7d --json"
        await seen.press("z")
        await seen.until(lambda: seen.keys == ["silent"])
        assert seen.text("#twin") == "as JSON: overdeck fires candidates --json"
        await seen.press("z")
        await seen.until(lambda: len(seen.keys) == 6)
        await seen.press("z", "escape")
        await seen.until(lambda: len(seen.keys) == 6 and "suspects" not in seen.text("#status"))


async def test_g_groups_by_event_then_by_plugin_and_the_cursor_stays_on_its_module(still: HookHome) -> None:
    async with opened(still) as seen:
        await on(seen, "acts")
        await seen.press("g")
        await seen.until(lambda: "[PreToolUse]" in seen.keys)
        assert seen.keys[-2:] == ["[Stop]", "Stop/later"]
        assert seen.row("[PreToolUse]")[0] == "PreToolUse (5)"
        assert seen.table.selected_key == "PreToolUse/acts"
        await seen.press("g")
        await seen.until(lambda: "[your modules]" in seen.keys)
        assert seen.keys[:3] == ["[user settings]", "user settings/監査🛡.py", "user settings/guard.py"]
        assert page_of(seen).selected_row is not None and page_of(seen).selected_row.id == "acts"
        await seen.press("g")
        await seen.until(lambda: seen.table.selected_key == "acts")


async def test_groups_stay_together_however_they_are_sorted(still: HookHome) -> None:
    async with opened(still) as seen:
        await seen.press("g", "g")
        for key in ("share", "module", "fired"):
            for flipped in (False, True):
                seen.table.sort_by(key, flipped=flipped)
                await seen.settled()
                headings = [i for i, name in enumerate(seen.keys) if name.startswith("[")]
                assert headings == [0, 3]


async def test_a_heading_shows_what_its_group_costs_and_nothing_can_be_done_to_it(still: HookHome) -> None:
    async with opened(still) as seen:
        await seen.press("g", "g")
        await seen.until(lambda: "[user settings]" in seen.keys)
        seen.table.select("[user settings]")
        await seen.until(lambda: seen.text("#facts").startswith("user settings: 2 modules and hooks, 96 %"))
        for key in ("t", "k", "x", "o", "i", "K", "c"):
            await seen.press(key)
        await seen.settled()
        assert len(seen.said) == 7 and all("selected" in said for said in seen.said)


async def test_w_counts_another_window(still: HookHome) -> None:
    async with opened(still) as seen:
        asked = [str(column.key.value) for column in seen.table.ordered_columns].index("asked")
        assert seen.row("acts")[asked] == "77"
        await seen.press("w")
        await seen.until(lambda: seen.row("acts")[asked] == "307")
        assert "last 30d" in seen.text("#status") and "--since 30d" in seen.text("#twin")
        await seen.press("w", "w")
        await seen.until(lambda: seen.row("acts")[asked] == "1")
        assert "last 1h" in seen.text("#status")


async def test_z_keeps_the_cursor_on_its_module_and_says_where_that_is_gone(still: HookHome) -> None:
    async with opened(still) as seen:
        await on(seen, "silent")
        for _ in range(3):
            await seen.press("z")
            await seen.settled()
            assert seen.table.selected_key == "silent"
        assert seen.said == []
        await on(seen, "acts")
        await seen.press("z")
        await seen.until(lambda: seen.said)
        now = seen.table.selected_key
        assert seen.said == [f"acts is not among the rows that are shown; the cursor is on {now}"]
