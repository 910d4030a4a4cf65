"""The pane of the hooks page: why, what to do, and all that is known of the row."""

from pathlib import Path

import pytest
from hookhomes import GUARD, NOON, HookHome
from hookpages import on, opened
from pages import Seen
from textual.widgets import DataTable

from overdeck.authoring.canaries import remember
from overdeck.authoring.inventory import find
from overdeck.authoring.matrix import MatrixResult

pytestmark = pytest.mark.timeout(60)


async def test_the_pane_says_why_what_to_do_and_all_that_is_known_of_a_module(home: HookHome, root: Path) -> None:
    async with opened(home, root, size=(200, 60)) as seen:
        await on(seen, "fails")
        facts, rest = seen.text("#facts"), seen.text("#beyond")
        assert facts.startswith(
            "fails: broken: 1 error and 1 timeout in 77 asked of the last 7 d (2.6 %)\nnext: read why"
        )
        for wanted in ("last canary: not run", "manifest: gate", "literals", "About fails [brackets]."):
            assert wanted in facts
        assert "wired: nowhere here: overdeck install" in facts
        for wanted in (
            "last fires:",
            "last failures:",
            "KeyError: 'x'",
            "cost, p95 of 30 days",
            "2026-11-30        2",
        ):
            assert wanted in rest
        assert "no incident of it (class hook-timeout, module-crashing)" in rest


async def test_the_pane_names_the_keys_that_do_something_for_the_row(home: HookHome, root: Path) -> None:
    async with opened(home, root) as seen:
        await on(seen, "fails")
        assert "here: t test, x removal, o open incident, i its incidents\n" in seen.text("#facts")
        await on(seen, "acts")
        assert "here: t test, k keep, x removal\n" in seen.text("#facts")
        await on(seen, "guard.py")
        assert "here: " not in seen.text("#facts")


async def test_the_pane_of_a_hook_that_is_no_module_says_what_starts_it_and_where(still: HookHome) -> None:
    async with opened(still) as seen:
        await on(seen, "guard.py")
        assert f"starts {GUARD}" in seen.text("#facts")
        assert "wired: PreToolUse(Bash) ~/.claude/settings.json /hooks/PreToolUse/0/hooks/0" in seen.text("#facts")
        assert "deny    PreToolUse" in seen.text("#beyond")


async def test_the_pane_says_which_cases_of_the_matrix_failed(home: HookHome) -> None:
    manifest = find(home.places, "silent").manifest
    remember(home.places, [(manifest, MatrixResult("silent", 2, ["denies: got nothing"]))], NOON)
    async with opened(home) as seen:
        await on(seen, "silent")
        assert seen.row("silent")[1] == "dead"
        assert "last canary: failed 0 s ago, 2 cases; denies: got nothing" in seen.text("#facts")


async def test_a_row_that_the_cursor_only_passes_leaves_nothing_in_the_pane(still: HookHome) -> None:
    async with opened(still) as seen:
        await seen.press(*["down"] * 4)
        await seen.until(lambda: seen.text("#facts").startswith("acts: active"))
        await seen.settled()
        assert seen.text("#beyond").count("deny    PreToolUse") == 5


async def test_a_click_on_a_row_selects_it(still: HookHome) -> None:
    async with opened(still) as seen:
        await seen.pilot.click(DataTable, offset=(3, 2))
        await seen.until(lambda: seen.text("#facts").startswith("silent: removal-candidate"))


async def test_what_a_foreign_settings_file_says_never_drives_the_terminal(empty: HookHome) -> None:
    empty.settings("/opt/evil\x1b]0;title\x07.sh \x1b[31m\nsecond line")
    async with opened(empty, size=(200, 60)) as seen:
        evil = next(key for key in seen.keys if key.startswith("evil"))
        seen.table.select(evil)
        await seen.until(lambda: "second line" in seen.text("#facts"))
        await seen.settled()
        drawn = "".join(segment.text for strip in seen.app.screen._compositor.render_strips() for segment in strip)
        assert "evil" in drawn
        assert not any(letter in drawn for letter in "\x1b\x07")


async def test_a_module_that_is_too_young_to_be_judged_is_to_be_mended_where_its_canary_fails(
    home: HookHome,
) -> None:
    manifest = find(home.places, "later").manifest
    remember(home.places, [(manifest, MatrixResult("later", 2, ["denies: expected deny, got nothing"]))], NOON)
    async with opened(home) as seen:
        await on(seen, "later")
        assert seen.row("later")[1] == "immature"
        assert "next: its canary fails: mend it; overdeck hooks test later names the case" in seen.text("#facts")
        assert "failing its own test later" in seen.text("#headline")
        await seen.press("z")
        await seen.until(lambda: "silent" in seen.keys and "acts" not in seen.keys)
        assert "later" in seen.keys


async def test_what_was_copied_can_be_read_in_the_pane_of_its_row_alone(still: HookHome) -> None:
    async with opened(still) as seen:
        await on(seen, "silent")
        for key in ("x", "c", "y"):
            await seen.press(key)
            await seen.until(
                lambda: f"here: sent to the terminal's clipboard: {seen.app.clipboard}\n" in pane(seen)
            )
            await seen.settled()
        assert all(said.startswith("sent to the terminal's clipboard: ") for said in seen.said)
        await on(seen, "acts")
        assert "clipboard" not in pane(seen)


def pane(seen: Seen) -> str:
    return seen.text("#facts") if seen.app.clipboard else ""
