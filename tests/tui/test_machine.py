"""The machine page on a made-up machine: looks, orphans, calls, every action, and what is not counted."""

import threading
from itertools import pairwise
from pathlib import Path

import pages
import pytest
from machines import Machine
from pages import LARGE, Seen, both_sizes, home_environ
from textual.widgets import Static

from overdeck.tui.help import Help
from overdeck.tui.keybar import KeyBar
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import RowTable
from overdeck.wiring.atwork import document
from overdeck.wiring.atwork.look import begin, look

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One client with two hooks at work, and an orphan below init."""
    made = Machine(tmp_path)
    made.wire("/opt/guard")
    made.group("slice/work")
    made.lines[10] = (1, "claude", ["claude"])
    made.lines[11] = (10, "guard", ["/opt/guard"])
    made.lines[12] = (11, "sleep", ["sleep", "5"])
    return made


def around(machine: Machine, *, live: bool = False) -> Surroundings:
    home = machine.places.home
    return Surroundings(home_environ(home), cwd=home, clock=machine.source.now, live=live, machine=machine.source)


def busy(machine: Machine) -> None:
    machine.lines[13] = (1, "guard", ["/opt/guard"])
    for ago in range(1, 40):
        machine.call(ago, us=3000 + 100 * ago)


async def again(seen: Seen, machine: Machine, seconds: float = 2.0) -> None:
    """One more look, ``seconds`` after the last."""
    machine.seconds += seconds
    await seen.press("r")
    await seen.until(lambda: f"in {seconds:.1f} s" in seen.text("#machine-line"))
    await seen.settled()


def cell(seen: Seen, table: str, row: str, column: str) -> str:
    return str(seen.page.query_one(f"#{table}", RowTable).get_cell(row, column))


@both_sizes
async def test_hooks_calls_and_counters_are_seen(machine: Machine, size: tuple[int, int]) -> None:
    busy(machine)
    async with pages.opened(around(machine), "machine", size=size) as seen:
        assert seen.keys == ["13", "11", "12"]
        assert seen.row("13")[:3] == ["guard", "1 min", "ORPHAN"]
        assert "kill 13" in seen.text("#hooks-line")
        assert "39 calls in 1 min: 0.65/s" in seen.text("#calls-line")
        assert cell(seen, "events", "PreToolUse", "calls") == "39"
        machine.stalled(600_000)
        machine.throttle("slice/work", 8)
        await again(seen, machine)
        assert cell(seen, "changes", "the machine", "cpu wait") == "30 %"
        assert cell(seen, "changes", str(machine.roots.sysfs / "slice/work"), "throttled") == "8 ms"
        await seen.same("machine")


async def test_the_verdict_stands_above_all_and_says_why_in_words(machine: Machine) -> None:
    async with pages.opened(around(machine), "machine") as seen:
        verdict = seen.page.query_one("#verdict", Static)
        assert seen.text("#verdict") == "machine not judged: it was looked at once, the second look tells"
        await again(seen, machine)
        assert seen.text("#verdict").startswith("machine ok") and not verdict.has_class("strained")
        machine.stalled(1_500_000)
        await again(seen, machine)
        assert seen.text("#verdict") == (
            "machine strained because somebody waited for cpu 75% of 2.0 s (bar: 60%). "
            "Next: overdeck doctor --watch 30s"
        )
        assert verdict.has_class("strained")
        assert verdict.region.y < seen.page.query_one("#hooks-line").region.y


async def test_the_verdict_on_the_page_is_that_of_the_twin(machine: Machine) -> None:
    busy(machine)
    async with pages.opened(around(machine), "machine") as seen:
        said = document.as_data(look(machine.source, begin(machine.source))[0])["verdict"]
        assert (said["state"], said["strains"][0]["about"]) == ("strained", "orphans")
        assert seen.text("#verdict").startswith(said["said"])


async def test_where_all_rows_fit_no_line_between_them_is_empty(machine: Machine) -> None:
    busy(machine)
    async with pages.opened(around(machine), "machine", size=LARGE) as seen:
        await again(seen, machine)
        parts = [part for part in seen.page.children if part.display]
        for above, below in pairwise(parts):
            assert above.region.bottom == below.region.y
        for id, rows in (("hooks", 3), ("events", 1), ("changes", 2)):
            assert seen.page.query_one(f"#{id}").region.height == rows + 1
        assert parts[-1].region.bottom == 60


async def test_where_they_do_not_fit_the_keys_stay_on_the_screen(machine: Machine) -> None:
    for pid in range(100, 160):
        machine.lines[pid] = (10, "guard", ["/opt/guard"])
    async with pages.opened(around(machine), "machine", size=LARGE) as seen:
        assert seen.page.query_one(KeyBar).region.bottom == 60
        assert seen.page.query_one("#hooks").region.height > 30


async def test_a_table_without_a_row_takes_no_line_and_the_keys_go_on(tmp_path: Path) -> None:
    async with pages.opened(around(Machine(tmp_path)), "machine") as seen:
        assert not seen.page.query_one("#events").display and not seen.page.query_one("#changes").display
        await seen.press("question_mark")
        await seen.until(lambda: isinstance(seen.app.screen, Help))


async def test_until_a_second_look_nothing_is_said_of_what_grows(machine: Machine) -> None:
    async with pages.opened(around(machine), "machine") as seen:
        assert "from the second look on" in seen.text("#unsaid")
        assert seen.page.query_one("#changes", RowTable).row_count == 0
        await again(seen, machine)
        assert "second look" not in seen.text("#unsaid")
        assert seen.page.query_one("#changes", RowTable).row_count > 0


async def test_the_page_looks_again_by_itself(machine: Machine) -> None:
    async with pages.opened(around(machine, live=True), "machine") as seen:
        machine.seconds = 2.0
        await seen.until(lambda: "in 2.0 s" in seen.text("#machine-line"))


async def test_a_look_that_is_slower_than_the_timer_still_ends(machine: Machine) -> None:
    async with pages.opened(around(machine), "machine") as seen:
        machine.held.clear()
        machine.seconds = 2.0
        for _ in range(3):
            seen.page._load_by_itself()
            await seen.pilot.pause()
        assert machine.waiting == 1
        machine.held.set()
        await seen.until(lambda: "in 2.0 s" in seen.text("#machine-line"))


async def test_p_pauses_which_is_seen_and_no_more_looks_are_taken_until_p_again(machine: Machine) -> None:
    async with pages.opened(around(machine), "machine") as seen:
        await seen.press("p")
        await seen.until(lambda: seen.text("#status").startswith("paused"))
        machine.seconds = 3.0
        seen.page._load_by_itself()
        await seen.settled()
        assert "in 3.0 s" not in seen.text("#machine-line")
        await seen.press("p")
        await seen.until(lambda: "in 3.0 s" in seen.text("#machine-line"))
        assert "paused" not in seen.text("#status")


async def test_a_hook_whose_client_dies_becomes_an_orphan_on_the_screen(machine: Machine) -> None:
    async with pages.opened(around(machine), "machine") as seen:
        assert {seen.row(key)[2] for key in seen.keys} == {"at work"}
        machine.lines.pop(10)
        machine.lines[2] = (1, "supervisor", ["supervisor"])
        machine.lines[11] = (2, "guard", ["/opt/guard"])
        await again(seen, machine)
        assert seen.row("11")[2] == "ORPHAN"
        assert "1 ORPHAN" in seen.text("#hooks-line")


async def test_o_shows_only_orphans_and_all_again_and_says_why_where_there_is_none(machine: Machine) -> None:
    async with pages.opened(around(machine), "machine") as seen:
        await seen.press("o")
        await seen.until(lambda: seen.said == ["Orphans: every hook has its client"])
        busy(machine)
        await again(seen, machine)
        await seen.press("o")
        await seen.until(lambda: seen.keys == ["13"])
        assert "only orphans" in seen.text("#status")
        for key in ("o", "escape"):
            await seen.press(key)
            await seen.until(lambda: len(seen.keys) == 3)
            await seen.press("o")
            await seen.until(lambda: len(seen.keys) == 1)


async def test_k_copies_the_command_that_ends_an_orphan_and_of_no_other(machine: Machine) -> None:
    busy(machine)
    async with pages.opened(around(machine), "machine") as seen:
        await seen.press("k")
        await seen.until(lambda: seen.app.clipboard == "kill 13")
        await seen.press("down", "k")
        await seen.until(lambda: len(seen.said) == 2)
        assert "a client waits for this one" in seen.said[-1]
        assert seen.app.clipboard == "kill 13"


async def test_c_copies_the_selected_process_and_y_the_twin(machine: Machine) -> None:
    async with pages.opened(around(machine), "machine") as seen:
        await seen.press("c")
        await seen.until(lambda: seen.app.clipboard.startswith("hook guard  age 1 min  state at work  pid 11"))
        await seen.press("y")
        await seen.until(lambda: seen.app.clipboard == "overdeck machine --json")


async def test_a_filter_narrows_the_processes_and_escape_shows_all(machine: Machine) -> None:
    async with pages.opened(around(machine), "machine") as seen:
        await seen.press("slash")
        await seen.type("sleep")
        await seen.until(lambda: seen.keys == ["12"])
        assert "1 of 2 processes of hooks" in seen.text("#status")
        await seen.press("escape")
        await seen.until(lambda: len(seen.keys) == 2)


async def test_r_reads_the_settings_again(machine: Machine) -> None:
    async with pages.opened(around(machine), "machine") as seen:
        machine.lines[14] = (10, "style", ["/opt/style"])
        machine.wire("/opt/style")
        await again(seen, machine)
        assert "14" in seen.keys


async def test_s_sorts_the_table_that_has_the_focus_and_a_click_on_a_header_its_own(machine: Machine) -> None:
    busy(machine)
    machine.call(2, us=90_000, event="Stop")
    async with pages.opened(around(machine), "machine", size=LARGE) as seen:
        events = seen.page.query_one("#events", RowTable)
        await seen.press("tab")
        await seen.until(lambda: events.has_focus)
        await seen.press("s")
        await seen.until(lambda: events.sorted_by.key == "share")
        assert seen.table.sorted_by.key == "state"
        await seen.pilot.click(events, offset=(2, 0))
        await seen.until(lambda: events.sorted_by.key == "event")
        await seen.pilot.click(seen.table, offset=(2, 2))
        await seen.until(lambda: seen.table.cursor_row == 1)


@both_sizes
async def test_without_a_call_and_without_psi_it_says_so(tmp_path: Path, size: tuple[int, int]) -> None:
    machine = Machine(tmp_path)
    (machine.roots.pressure / "cpu").unlink()
    async with pages.opened(around(machine), "machine", size=size) as seen:
        assert "No data yet: no call was ever logged. Type: overdeck install" in seen.text("#notice")
        assert "no PSI here" in seen.text("#unsaid")
        assert "no client runs now" in seen.text("#hooks-line")
        await seen.same("machine-nothing")


@both_sizes
async def test_its_other_looks(machine: Machine, size: tuple[int, int]) -> None:
    async with pages.opened(around(machine), "machine", size=size) as seen:
        await seen.same("machine-first-look")
        await again(seen, machine)
        await seen.same("machine-ok")
        busy(machine)
        machine.stalled(1_500_000)
        await again(seen, machine)
        await seen.press("o")
        await seen.same("machine-strained-orphans")
        await seen.press("p")
        await seen.until(lambda: seen.text("#status").startswith("paused"))
        await seen.same("machine-paused")
        await seen.press("question_mark")
        await seen.same("machine-help")


@both_sizes
async def test_many_hooks_at_work_look(machine: Machine, size: tuple[int, int]) -> None:
    for pid in range(100, 170):
        machine.lines[pid] = (10, "guard", ["/opt/guard"])
    async with pages.opened(around(machine), "machine", size=size) as seen:
        await seen.same("machine-many")


@both_sizes
async def test_settings_that_cannot_be_read_are_a_warning(machine: Machine, size: tuple[int, int]) -> None:
    busy(machine)
    (machine.places.claude_dir / "settings.json").write_text("{")
    async with pages.opened(around(machine), "machine", size=size) as seen:
        assert "warning: " in seen.text("#notice") and "settings.json" in seen.text("#notice")
        await seen.same("machine-settings-unreadable")


async def test_a_name_in_wide_letters_keeps_the_columns_in_line(machine: Machine) -> None:
    machine.wire("/opt/守衛👍")
    machine.lines[11] = (10, "守衛👍", ["/opt/守衛👍"])
    async with pages.opened(around(machine), "machine") as seen:
        assert seen.row("11")[0] == "守衛👍"
        widths = {c.key.value: c.width for c in seen.table.ordered_columns}
        assert widths["hook"] >= 6


async def test_this_machine_is_looked_at_where_no_other_is_given(tmp_path: Path) -> None:
    this = Surroundings(home_environ(tmp_path), cwd=tmp_path, live=False)
    async with pages.opened(this, "machine") as seen:
        assert " processors" in seen.text("#machine-line")
        await seen.press("r")
        await seen.settled()
        assert "error" not in seen.text("#notice")


async def test_nothing_is_looked_at_on_the_event_loop(machine: Machine) -> None:
    here = threading.get_ident()
    async with pages.opened(around(machine), "machine") as seen:
        await again(seen, machine)
    assert len(machine.looked_in) > 1 and here not in machine.looked_in


async def test_another_page_and_back_keeps_what_was_seen(machine: Machine) -> None:
    async with pages.opened(around(machine), "machine") as seen:
        await seen.press("4")
        await seen.until(lambda: seen.page.PAGE == "bench")
        await seen.press("3")
        await seen.until(lambda: seen.page.PAGE == "machine")
        assert seen.keys == ["11", "12"]
