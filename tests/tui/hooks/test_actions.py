"""What can be done on the hooks page, and why not where it cannot; each is the core's own."""

import json
import shlex
from pathlib import Path
from typing import Any

import hookhomes
import pytest
from hookhomes import GUARD, NOON, HookHome
from hookpages import on, opened
from pages import Seen
from textual.screen import Screen
from textual.widgets import Input, Label

from overdeck.authoring.canaries import remember
from overdeck.authoring.inventory import find
from overdeck.authoring.matrix import MatrixResult
from overdeck.telemetry.keep import keep
from overdeck.tui.choose import Choose
from overdeck.tui.confirm import Confirm
from overdeck.tui.forms import Form

pytestmark = pytest.mark.timeout(60)


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


def incidents_of(root: Path) -> list[Path]:
    return list((root / "log").glob("*.jsonl"))


async def asked(seen: Seen, id: str, kind: type[Screen[Any]]) -> None:
    """``o`` was pressed on that row, and the question is there."""
    await on(seen, id)
    await seen.press("o")
    await seen.until(lambda: isinstance(seen.app.screen, kind) and seen.text("#about"))


async def test_o_asks_says_what_it_will_write_and_opens_the_incident(home: HookHome, root: Path) -> None:
    (home.places.user_modules / "silent" / "module.py").write_text("def evaluate(call):\n    return None\n")
    async with opened(home, root) as seen:
        await on(seen, "silent")
        await seen.press("t")
        await seen.until(lambda: seen.row("silent")[1] == "dead")
        await asked(seen, "silent", Confirm)
        about = seen.text("#about")
        assert about.startswith("gate-silent: silent is dead: ") and "written to ~/incidents/log" in about
        assert not incidents_of(root)
        await seen.press("enter")
        await seen.until(lambda: any("opened: silent is dead" in said for said in seen.said))
        await seen.until(lambda: "incidents: 1 of it" in seen.text("#beyond"))


async def test_o_on_a_row_with_two_causes_opens_only_the_ticked_ones(home: HookHome, root: Path) -> None:
    async with opened(home, root) as seen:
        await asked(seen, "fails", Choose)
        timeout, error = seen.text("#choices").splitlines()
        assert timeout == "> [x] hook-timeout: fails was killed at its deadline 1 time"
        assert error == "  [x] module-crashing: fails failed 1 time"
        assert "written to ~/incidents/log" in seen.text("#about") and not incidents_of(root)
        await seen.press("down", "space")
        await seen.until(lambda: "> [ ] module-crashing" in seen.text("#choices"))
        await seen.press("enter")
        await seen.until(lambda: any("opened: fails was killed" in said for said in seen.said))
        await seen.until(lambda: "incidents: 1 of it" in seen.text("#beyond"))


async def test_o_and_enter_opens_every_cause_and_a_second_time_counts_none_again(
    home: HookHome, root: Path
) -> None:
    async with opened(home, root) as seen:
        for became in ("opened: fails failed", "nothing was written: fails failed"):
            await asked(seen, "fails", Choose)
            await seen.press("enter")
            await seen.until(lambda became=became: any(became in said for said in seen.said))
            await seen.until(lambda: "incidents: 2 of it" in seen.text("#beyond"))


async def test_with_no_cause_ticked_nothing_is_opened_and_the_question_says_so(home: HookHome, root: Path) -> None:
    async with opened(home, root) as seen:
        await asked(seen, "fails", Choose)
        await seen.press("space", "down", "space", "enter")
        await seen.until(lambda: seen.text("#refused") == "nothing is ticked: there is nothing to do")
        assert isinstance(seen.app.screen, Choose)
        await seen.press("escape")
        await seen.until(lambda: seen.app.screen is seen.page)
        assert not incidents_of(root)


async def test_a_click_ticks_a_cause_and_unticks_it(home: HookHome, root: Path) -> None:
    async with opened(home, root) as seen:
        await asked(seen, "fails", Choose)
        for mark in (" ", "x"):
            await seen.pilot.click("#choices", offset=(8, 1))
            await seen.until(lambda mark=mark: f"> [{mark}] module-crashing" in seen.text("#choices"))


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_o_and_leaving_the_question_opens_nothing(home: HookHome, root: Path, key: str) -> None:
    async with opened(home, root) as seen:
        await asked(seen, "fails", Choose)
        await seen.press(key)
        await seen.until(lambda: seen.app.screen is seen.page)
        await seen.settled()
        assert not incidents_of(root)


async def test_which_registry_o_would_write_to_is_on_the_page_before_it_writes(home: HookHome, root: Path) -> None:
    async with opened(home, root) as seen:
        await on(seen, "fails")
        assert "o open incident" in seen.text("#facts") and "\no writes to ~/incidents\n" in seen.text("#facts")
        assert "in ~/incidents" in seen.text("#beyond")
        await on(seen, "acts")
        assert "o writes to" not in seen.text("#facts")


async def test_o_opens_an_incident_of_a_young_module_whose_canary_fails(home: HookHome, root: Path) -> None:
    manifest = find(home.places, "later").manifest
    remember(home.places, [(manifest, MatrixResult("later", 2, ["denies: expected deny, got nothing"]))], NOON)
    async with opened(home, root) as seen:
        await on(seen, "later")
        await asked(seen, "later", Confirm)
        await seen.press("enter")
        await seen.until(
            lambda: any("opened: later is immature, and its canary fails" in said for said in seen.said)
        )


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
