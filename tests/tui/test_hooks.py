"""The hooks page, driven by a pilot that waits for what it wants to see and never sleeps."""

import json
import shlex
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import hookhomes
import pages
import pytest
from hookhomes import GUARD, NOON, HookHome
from pages import Seen, both_sizes
from textual.color import Color
from textual.widgets import DataTable, Input, Label

from overdeck.authoring.canaries import remember
from overdeck.authoring.inventory import find
from overdeck.authoring.matrix import MatrixResult
from overdeck.incidents import creating
from overdeck.telemetry.columns import as_record
from overdeck.telemetry.ingest import ingest, up_to_date
from overdeck.telemetry.keep import keep
from overdeck.telemetry.report import report
from overdeck.telemetry.store import exclusive
from overdeck.tui.confirm import Confirm
from overdeck.tui.forms import Form
from overdeck.tui.hooks import HooksPage
from overdeck.tui.hooks.pane import Detail
from overdeck.tui.hooks.tail import TailPane
from overdeck.tui.themes import NAMES, NO_COLOUR
from overdeck.wiring.deadlauncher import dead_launchers
from overdeck.wiring.unadopted import with_hooks

pytestmark = pytest.mark.timeout(60)
ALL = ["fails", "silent", "監査🛡.py", "later", "acts", "guard.py"]


@pytest.fixture
def home(tmp_path: Path) -> HookHome:
    return hookhomes.full(tmp_path)


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> HookHome:
    """The same for tests that only look: making one takes longer than most of them, so they share it."""
    return hookhomes.full(tmp_path_factory.mktemp("still"))


@pytest.fixture
def empty(tmp_path: Path) -> HookHome:
    """Three modules are on; nothing is logged, no settings file holds a hook."""
    made = HookHome(tmp_path)
    for id in ("acts", "silent"):
        made.module(id)
    made.module("later", "Stop")
    return made


@pytest.fixture
def root(home: HookHome) -> Path:
    """A registry without an incident."""
    made = home.root / "incidents"
    creating.create(made)
    return made


@asynccontextmanager
async def opened(home: HookHome, root: Path | None = None, **more: Any) -> AsyncIterator[Seen]:
    """The hooks page once every row is there."""
    live = more.pop("live", False)
    async with pages.opened(home.around(live=live, registry=root), **more) as seen:
        yield seen


async def on(seen: Seen, id: str) -> None:
    """The cursor on a row, and what lies beyond its counts on the screen."""
    seen.table.select(id)
    await seen.until(lambda: seen.text("#facts").startswith(f"{id}: "))
    await seen.settled()


def page_of(seen: Seen) -> HooksPage:
    assert isinstance(seen.page, HooksPage)
    return seen.page


# Rows.


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
            "module", "verdict", "cost", "fired", "by day",
        ]  # fmt: skip
        assert sum(column.get_render_width(table) for column in table.ordered_columns[:5]) <= 80
        assert table.region.height >= 6


async def test_the_headline_answers_what_costs_most_what_fails_and_what_never_fires(still: HookHome) -> None:
    async with opened(still) as seen:
        assert seen.text("#headline") == (
            "dearest: guard.py (96 % of hook time) · failing: fails · never fired: silent"
        )


async def test_a_screen_that_becomes_wide_shows_a_bar_for_each_day(still: HookHome) -> None:
    async with opened(still) as seen:
        assert len(seen.row("acts")[4]) == 10
        await seen.pilot.resize_terminal(200, 60)
        await seen.until(lambda: len(seen.row("acts")[4]) == 30)
        assert seen.page.query_one(Detail).has_class("-wide")
        await seen.pilot.resize_terminal(80, 24)
        await seen.until(lambda: len(seen.row("acts")[4]) == 10)


# Sorting, filter, groups, window, suspects.


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


# The pane.


async def test_the_pane_says_why_what_to_do_and_all_that_is_known_of_a_module(home: HookHome, root: Path) -> None:
    async with opened(home, root, size=(200, 60)) as seen:
        await on(seen, "fails")
        facts, rest = seen.text("#facts"), seen.text("#beyond")
        assert facts.startswith("fails: broken: 1 error and 1 timeout in 77 asked (2.6 %)\nnext: read why")
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
        assert "here: t test, x removal, o open incident, i its incidents" in seen.text("#facts")
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


# Live tail.


async def test_l_shows_fires_as_they_are_logged_also_while_they_are_taken_in(home: HookHome) -> None:
    async with opened(home, live=True) as seen:
        await seen.press("l")
        pane = seen.page.query_one(TailPane)
        await seen.until(lambda: pane.display and any("fails" in line for line in pane.lines))
        stop = threading.Event()

        def keep_ingesting() -> None:
            while not stop.is_set():
                ingest(home.places, now=NOON)

        worker = threading.Thread(target=keep_ingesting)
        worker.start()
        try:
            for number in range(3):
                home.fire(f"live-{number}", seconds=1)
                await seen.until(lambda number=number: any(f"live-{number}" in line for line in pane.lines))
        finally:
            stop.set()
            worker.join()
        assert sum("live-1" in line for line in pane.lines) == 1
        await seen.press("l")
        await seen.until(lambda: not pane.display)


async def test_a_paused_page_stands_still_and_says_so(home: HookHome) -> None:
    async with opened(home, live=True) as seen:
        await seen.press("l", "p")
        await seen.until(lambda: seen.text("#status").startswith("paused"))
        await seen.settled()
        pane = seen.page.query_one(TailPane)
        home.fire("late", seconds=1)
        home.fire("silent", seconds=1)
        page_of(seen)._follow()
        page_of(seen)._load_by_itself()
        await seen.settled()
        assert not any("late" in line for line in pane.lines)
        assert seen.row("silent")[1] == "removal-candidate"
        await seen.press("p")
        await seen.until(lambda: any("late" in line for line in pane.lines))
        await seen.until(lambda: seen.row("silent")[1] == "active")


# Actions.


async def test_t_runs_the_modules_own_canary_and_the_verdict_knows_of_it(home: HookHome) -> None:
    async with opened(home) as seen:
        await on(seen, "silent")
        await seen.press("t")
        await seen.until(lambda: any("canary of silent passes: 2 cases" in said for said in seen.said))
        await seen.settled()
        assert "its canary passes" in seen.text("#facts")
        assert (home.places.state / "canaries.json").exists()
        assert "is running" not in seen.text("#status")
        await seen.press("t")
        await seen.until(lambda: len([said for said in seen.said if "passes" in said]) == 2)


async def test_a_canary_that_fails_says_which_case(home: HookHome) -> None:
    (home.places.user_modules / "silent" / "module.py").write_text("def evaluate(call):\n    return None\n")
    async with opened(home) as seen:
        await on(seen, "silent")
        await seen.press("t")
        await seen.until(
            lambda: any(said.endswith("FAILS: denies: expected deny, got nothing") for said in seen.said)
        )
        await seen.until(lambda: seen.row("silent")[1] == "dead")


async def test_a_running_canary_is_not_started_a_second_time(home: HookHome) -> None:
    module = home.places.user_modules / "silent" / "module.py"
    module.write_text("import time\n" + hookhomes.CODE.replace("    return", "    time.sleep(0.5)\n    return"))
    async with opened(home) as seen:
        await on(seen, "silent")
        await seen.press("t", "t")
        await seen.until(lambda: any("the canary of silent is running" in said for said in seen.said))
        await seen.settled()


async def test_what_cannot_be_done_to_a_hook_that_is_no_module_says_why(still: HookHome) -> None:
    async with opened(still) as seen:
        await on(seen, "guard.py")
        for key, why in (
            ("t", "it is no module, so it has no matrix"),
            ("k", "nobody calls it silent"),
            ("K", "nobody gave a word"),
            ("x", "by hand, or make it a module: overdeck adopt"),
        ):
            await seen.press(key)
            await seen.until(lambda why=why: any(why in said for said in seen.said))


async def test_k_keeps_a_module_with_a_reason_and_K_takes_the_word_back(home: HookHome) -> None:
    async with opened(home) as seen:
        await on(seen, "silent")
        await seen.press("k")
        await seen.until(lambda: isinstance(seen.app.screen, Form))
        await seen.press("enter")
        await seen.until(lambda: seen.text("#refused") == "a reason is needed")
        await seen.type("the yearly audit asks for it")
        await seen.press("enter")
        await seen.until(lambda: seen.row("silent")[1] == "exempt")
        word = json.loads((home.places.state / "keep.json").read_text())["silent"]
        assert word == {"because": "the yearly audit asks for it", "date": "2026-11-30"}
        await on(seen, "silent")
        await seen.press("k")
        await seen.until(lambda: any("kept already" in said for said in seen.said))
        await seen.press("K")
        await seen.until(lambda: seen.row("silent")[1] == "removal-candidate")


async def test_a_word_that_was_not_given_changes_nothing(still: HookHome) -> None:
    async with opened(still) as seen:
        await on(seen, "silent")
        await seen.press("k")
        await seen.until(lambda: isinstance(seen.app.screen, Form))
        await seen.press("escape")
        await seen.until(lambda: not isinstance(seen.app.screen, Form))
        assert not (still.places.state / "keep.json").exists()


async def test_x_copies_what_switches_the_module_off_and_removes_nothing(still: HookHome) -> None:
    before = still.places.config_file.read_text()
    async with opened(still) as seen:
        await on(seen, "silent")
        await seen.press("x")
        await seen.until(lambda: seen.app.clipboard)
        assert seen.app.clipboard.endswith(
            f"printf '\\n[modules.silent]\\nenabled = false\\n' >> {still.places.config_file}"
        )
    assert still.places.config_file.read_text() == before


async def test_c_copies_the_name_of_a_module_and_the_command_of_a_hook(still: HookHome) -> None:
    async with opened(still) as seen:
        await on(seen, "acts")
        await seen.press("c")
        await seen.until(lambda: seen.app.clipboard == "acts")
        await on(seen, "guard.py")
        await seen.press("c")
        await seen.until(lambda: seen.app.clipboard == GUARD)


async def test_o_asks_says_what_it_will_write_and_opens_the_incident(home: HookHome, root: Path) -> None:
    async with opened(home, root) as seen:
        await on(seen, "fails")
        await seen.press("o")
        await seen.until(lambda: isinstance(seen.app.screen, Confirm))
        about = seen.text("#about")
        assert "hook-timeout: fails was killed at its deadline 1 time" in about and str(root / "log") in about
        assert not list((root / "log").glob("*.jsonl"))
        await seen.press("enter")
        await seen.until(lambda: any("opened: fails was killed" in said for said in seen.said))
        await seen.until(lambda: "incidents: 2 of it" in seen.text("#beyond"))


async def test_o_and_esc_opens_nothing(home: HookHome, root: Path) -> None:
    async with opened(home, root) as seen:
        await on(seen, "fails")
        await seen.press("o")
        await seen.until(lambda: isinstance(seen.app.screen, Confirm))
        await seen.press("escape")
        await seen.until(lambda: not isinstance(seen.app.screen, Confirm))
        await seen.settled()
        assert not list((root / "log").glob("*.jsonl"))


async def test_a_module_that_does_no_harm_opens_no_incident_and_says_why(home: HookHome, root: Path) -> None:
    async with opened(home, root) as seen:
        await on(seen, "acts")
        await seen.press("o")
        await seen.until(lambda: any("it is active, and neither failed" in said for said in seen.said))


async def test_without_a_registry_the_reason_says_what_to_type(still: HookHome) -> None:
    async with opened(still) as seen:
        await on(seen, "fails")
        await seen.press("o")
        await seen.until(lambda: any("od-incidents init" in said for said in seen.said))
        assert "there is no incident registry" in seen.text("#beyond")


async def test_i_leads_to_the_incidents_of_its_class(home: HookHome, root: Path) -> None:
    async with opened(home, root) as seen:
        await on(seen, "fails")
        await seen.press("i")
        await seen.until(lambda: seen.page.PAGE == "incidents")
        await seen.until(lambda: seen.page.query_one("#filter", Input).value == "hook-timeout")


async def test_a_state_folder_that_cannot_be_written_is_said_and_ends_nothing(home: HookHome) -> None:
    (home.places.state / "keep.json").write_text("[broken")
    async with opened(home) as seen:
        await seen.until(lambda: "error: " in seen.text("#notice"))
        assert "next: mend" in seen.text("#notice")
        (home.places.state / "keep.json").unlink()
        await seen.press("r")
        await seen.until(lambda: len(seen.keys) == 6)
        await seen.settled()
        assert "error: " not in seen.text("#notice")


# What a newcomer stumbled over.


async def test_where_no_gate_runs_the_page_warns_as_the_commands_do(home: HookHome) -> None:
    settings = home.places.claude_dir / "settings.json"
    receipts = home.places.state / "installed"
    receipts.mkdir()
    (receipts / "one.json").write_text(json.dumps({"file": str(settings)}))
    (warning,) = dead_launchers(home.places)
    assert "the entries that install wrote are gone from it; next: overdeck doctor" in warning
    async with opened(home) as seen:
        assert seen.text("#notice").startswith(f"warning: {warning}")


async def test_what_fails_cannot_be_kept_and_the_reason_says_mend_it(still: HookHome) -> None:
    async with opened(still) as seen:
        await on(seen, "fails")
        await seen.press("k")
        await seen.until(lambda: "Keep: it fails: mend it; keep is for silence" in seen.said)
        assert not isinstance(seen.app.screen, Form)


async def test_what_fails_its_canary_cannot_be_kept(home: HookHome) -> None:
    manifest = find(home.places, "silent").manifest
    remember(home.places, [(manifest, MatrixResult("silent", 2, ["denies: got nothing"]))], NOON)
    async with opened(home) as seen:
        await on(seen, "silent")
        await seen.press("k")
        await seen.until(lambda: "Keep: its canary fails: mend it; keep is for silence" in seen.said)


@pytest.mark.parametrize(("id", "asked"), [("silent", "although it is silent?"), ("acts", "also when it falls")])
async def test_the_question_of_keep_fits_the_verdict(still: HookHome, id: str, asked: str) -> None:
    async with opened(still) as seen:
        await on(seen, id)
        await seen.press("k")
        await seen.until(lambda: isinstance(seen.app.screen, Form))
        labels = [str(label.content) for label in seen.app.screen.query(Label)]
        assert any(asked in label for label in labels)


async def test_a_module_that_is_too_young_to_be_judged_is_to_be_mended_where_its_canary_fails(
    home: HookHome,
) -> None:
    manifest = find(home.places, "later").manifest
    remember(home.places, [(manifest, MatrixResult("later", 2, ["denies: expected deny, got nothing"]))], NOON)
    async with opened(home) as seen:
        await on(seen, "later")
        assert seen.row("later")[1] == "immature"
        assert "next: its canary fails: mend it; overdeck hooks test later names the case" in seen.text("#facts")


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


async def test_a_word_that_lets_a_row_go_from_the_suspects_says_where_the_cursor_is(home: HookHome) -> None:
    async with opened(home) as seen:
        await seen.press("z")
        await on(seen, "silent")
        await seen.press("k")
        await seen.until(lambda: isinstance(seen.app.screen, Form))
        await seen.type("yearly")
        await seen.press("enter")
        await seen.until(lambda: seen.keys == ["fails"])
        await seen.until(lambda: any("silent is not among" in said and "on fails" in said for said in seen.said))


async def test_K_says_whose_word_was_taken_back_and_how_to_undo_it(home: HookHome) -> None:
    keep(home.places, "silent", "it's yearly", NOON)
    async with opened(home) as seen:
        await on(seen, "silent")
        await seen.press("K")
        await seen.until(lambda: any(said.startswith("your word for silent is taken back") for said in seen.said))
        undo = seen.said[-1].partition("To undo: ")[2]
        assert shlex.split(undo) == ["overdeck", "fires", "keep", "silent", "--because", "it's yearly"]


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


# How the page stands.


async def test_a_refresh_takes_in_new_lines_and_keeps_the_cursor(home: HookHome) -> None:
    async with opened(home) as seen:
        await on(seen, "acts")
        home.fire("silent", minutes=1)
        await seen.press("r")
        await seen.until(lambda: seen.row("silent")[1] == "active")
        assert seen.text("#facts").startswith("acts")


async def test_without_any_log_it_says_what_to_do_and_still_lists_the_modules(empty: HookHome) -> None:
    async with opened(empty) as seen:
        await seen.until(lambda: "overdeck install" in seen.text("#notice"))
        assert sorted(seen.keys) == ["acts", "later", "silent"]
        assert seen.row("acts")[1] == "unknown"


async def test_without_any_module_or_hook_it_says_so(empty: HookHome) -> None:
    for folder in empty.places.user_modules.iterdir():
        (folder / "module.toml").unlink()
    async with opened(empty) as seen:
        await seen.until(lambda: "no module is switched on and no hook is configured" in seen.text("#notice"))
        assert seen.keys == []
        for key in ("t", "k", "x", "o", "i", "c"):
            await seen.press(key)
        assert len(seen.said) == 6


async def test_an_error_is_shown_with_what_to_do_next(empty: HookHome) -> None:
    empty.places.config_file.write_text("packs = [")
    async with opened(empty) as seen:
        await seen.until(lambda: "error: the config cannot be read" in seen.text("#notice"))
        assert "next: mend" in seen.text("#notice")


async def test_while_another_ingest_is_at_work_the_published_data_shows_with_its_age(home: HookHome) -> None:
    home.moved.append(timedelta(hours=3))
    home.fire("silent", seconds=1)
    with exclusive(home.places):
        async with opened(home) as seen:
            await seen.until(lambda: "locked: another process is ingesting" in seen.text("#status"))
            assert "data of 3 h ago" in seen.text("#status")
            assert seen.row("silent")[1] == "removal-candidate"


async def test_a_published_copy_that_cannot_be_read_is_made_anew(home: HookHome) -> None:
    home.places.published.write_bytes(b"no database of ours")
    async with opened(home) as seen:
        assert sorted(seen.keys) == sorted(ALL)


@pytest.fixture
def opened_by_the_loop(home: HookHome) -> Iterator[list[str]]:
    """Files of the user that the event loop's own thread opened."""
    found: list[str] = []
    loop = threading.get_ident()
    watching = [True]

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if (
            watching
            and event == "open"
            and threading.get_ident() == loop
            and str(args[0]).startswith(str(home.root))
        ):
            found.append(str(args[0]))

    sys.addaudithook(hook)
    yield found
    watching.clear()


async def test_no_file_is_read_on_the_event_loop(
    home: HookHome, root: Path, opened_by_the_loop: list[str]
) -> None:
    opened_by_the_loop.clear()
    async with opened(home, root) as seen:
        for key in ("down", "g", "g", "g", "w", "z", "z", "z", "l", "r", "t", "x", "slash", "a", "escape"):
            await seen.press(key)
            await seen.settled()
        await on(seen, "fails")
        await seen.press("o")
        await seen.settled()
        await seen.press("escape")
        await seen.settled()
    assert opened_by_the_loop == []


# What it looks like.


@both_sizes
async def test_looks(home: HookHome, root: Path, size: tuple[int, int]) -> None:
    async with opened(home, root, size=size) as seen:
        await seen.same("hooks")
        await seen.press("z")
        await seen.same("hooks-suspects")
        await seen.press("z", "z", "g")
        await seen.same("hooks-grouped")
        await seen.press("p", "l")
        await seen.press("p", "r", "p")
        await seen.same("hooks-paused")


@both_sizes
async def test_no_data_yet_looks(empty: HookHome, size: tuple[int, int]) -> None:
    creating.create(empty.root / "incidents")
    async with opened(empty, empty.root / "incidents", size=size) as seen:
        await seen.same("hooks-no-data")


@both_sizes
async def test_locked_and_stale_looks(home: HookHome, root: Path, size: tuple[int, int]) -> None:
    home.moved.append(timedelta(hours=3))
    home.fire("silent", seconds=1)
    with exclusive(home.places):
        async with opened(home, root, size=size) as seen:
            await seen.same("hooks-locked")
