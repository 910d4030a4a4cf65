"""The bench page: measurements as a user sees them, every action, and what it says where there is none."""

import fcntl
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pages
import pytest
from pages import LARGE, Seen, both_sizes, home_environ
from records import kept
from textual.widgets import Input

from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import RowTable

pytestmark = pytest.mark.timeout(60)
NOW = datetime(2026, 11, 30, 13, 0, tzinfo=UTC)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / ".cache" / "overdeck"


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    return Surroundings(home_environ(tmp_path), cwd=tmp_path, clock=lambda: NOW, live=False)


@pytest.fixture
def measured(cache: Path) -> Path:
    """Three runs of one scenario, one of another with three arms, one that was invalid and one cut short."""
    kept(cache, 1, 1.30)
    kept(cache, 2, 1.00, 2.5, arms=("true", "日本語 👍", "sleep"))
    kept(cache, 3, 1.32)
    kept(cache, 4, 0, arms=("true", "nope"), pairs=0, invalid="arm B exited 127, a program in it was not found")
    kept(cache, 5, 0.80)
    kept(cache, 6, 1.02, arms=("cat", "cat -u"), pairs=12, end=False)
    return cache


def verdicts(seen: Seen) -> list[str]:
    return [column(seen, key, "verdict") for key in seen.keys]


def column(seen: Seen, key: str, name: str) -> str:
    return str(seen.table.get_cell(key, name))


@both_sizes
async def test_the_last_runs_are_intervals_on_one_axis_the_newest_first(
    around: Surroundings, measured: Path, size: tuple[int, int]
) -> None:
    async with pages.opened(around, "bench", size=size) as seen:
        assert [column(seen, key, "started")[-5:] for key in seen.keys] == [
            "12:06", "12:05", "12:04", "12:03", "12:02", "12:02", "12:01",
        ]  # fmt: skip
        assert verdicts(seen)[:4] == ["no difference found (cut short)", "faster", "invalid", "slower"]
        assert len({len(column(seen, key, "axis")) for key in seen.keys}) == 1
        assert all(set(column(seen, key, "axis")) & set("│┃┼") for key in seen.keys[2:4])
        await seen.press("down")
        await seen.until(lambda: "takes 0.800x A's CPU" in seen.text("#details"))
        assert "CPU: below the bar of 1.03" in seen.text("#details")
        await seen.same("bench")


async def test_the_trend_of_a_scenario_is_told_in_bars_and_in_words(around: Surroundings, measured: Path) -> None:
    async with pages.opened(around, "bench", size=LARGE) as seen:
        await seen.press("down")
        await seen.until(lambda: "trend by CPU over 3 runs: ██▁" in seen.text("#details"))
        assert "cheaper than the run before: the intervals are apart" in seen.text("#details")
        assert column(seen, seen.keys[1], "trend") == "██▁"


async def test_m_shows_the_other_metric_and_says_so(around: Surroundings, measured: Path) -> None:
    async with pages.opened(around, "bench") as seen:
        assert "CPU time" in seen.text("#status") and "1.03" in seen.text("#axis")
        await seen.press("m")
        await seen.until(lambda: "ratios of wall time" in seen.text("#status"))
        assert "1.10" in seen.text("#axis")
        assert verdicts(seen)[1] == "faster by CPU"
        await seen.press("m")
        await seen.until(lambda: "CPU time" in seen.text("#status"))


async def test_z_draws_close_to_1_and_what_lies_beyond_is_an_arrow(around: Surroundings, measured: Path) -> None:
    async with pages.opened(around, "bench") as seen:
        far = next(key for key in seen.keys if key.endswith(" C"))
        assert "▶" not in column(seen, far, "axis")
        await seen.press("z")
        await seen.until(lambda: column(seen, far, "axis").endswith("▶"))
        assert "close to 1.0" in seen.text("#status")
        await seen.press("z")
        await seen.until(lambda: "▶" not in column(seen, far, "axis"))


async def test_f_shows_only_the_scenario_of_the_selected_run_and_escape_all_again(
    around: Surroundings, measured: Path
) -> None:
    async with pages.opened(around, "bench") as seen:
        await seen.press("down", "f")
        await seen.until(lambda: "3 of 7 comparisons" in seen.text("#status"))
        assert {column(seen, key, "scenario") for key in seen.keys} == {"1"}
        await seen.press("escape")
        await seen.until(lambda: "7 of 7" in seen.text("#status"))


async def test_f_on_a_record_that_cannot_be_read_says_why_not(around: Surroundings, cache: Path) -> None:
    kept(cache, 1, 1.0).write_text("nonsense\n")
    async with pages.opened(around, "bench") as seen:
        assert verdicts(seen) == ["unreadable"]
        await seen.press("f")
        await seen.until(lambda: seen.said)
        assert seen.said == ["Scenario: this record cannot be read"]


async def test_a_filter_finds_a_run_by_its_arms_in_any_script(around: Surroundings, measured: Path) -> None:
    async with pages.opened(around, "bench") as seen:
        await seen.press("slash")
        await seen.pilot.press(*"日本")
        await seen.until(lambda: "2 of 7" in seen.text("#status"))


async def test_c_copies_the_command_that_says_all_of_a_run(around: Surroundings, measured: Path) -> None:
    async with pages.opened(around, "bench") as seen:
        await seen.press("c")
        await seen.until(lambda: seen.app.clipboard)
        assert seen.app.clipboard == f"hookbench report {measured}/bench/ab-20261130T120600Z-1.jsonl"
        await seen.press("y")
        await seen.until(lambda: seen.app.clipboard == "hookbench report --json")


async def test_s_and_a_click_on_a_header_sort(around: Surroundings, measured: Path) -> None:
    async with pages.opened(around, "bench", size=LARGE) as seen:
        await seen.press("s")
        await seen.until(lambda: seen.table.sorted_by.key == "scenario")
        place = [c.key.value for c in seen.table.ordered_columns].index("ratio")
        left = sum(c.get_render_width(seen.table) for c in seen.table.ordered_columns[:place])
        await seen.pilot.click(RowTable, offset=(left + 2, 0))
        await seen.until(lambda: seen.table.sorted_by.key == "ratio")
        assert column(seen, seen.keys[0], "arm") == "C"


async def test_a_click_on_a_row_shows_its_details(around: Surroundings, measured: Path) -> None:
    async with pages.opened(around, "bench") as seen:
        await seen.pilot.click(RowTable, offset=(3, 3))
        await seen.until(lambda: "invalid: arm B exited 127" in seen.text("#details"))
        assert "next: try it by hand: nope" in seen.text("#details")


async def test_r_takes_in_a_new_run_and_the_cursor_stays(around: Surroundings, measured: Path) -> None:
    async with pages.opened(around, "bench") as seen:
        await seen.press("down")
        before = seen.table.selected_key
        kept(measured, 9, 3.0)
        await seen.press("r")
        await seen.until(lambda: "8 of 8" in seen.text("#status"))
        assert seen.table.selected_key == before


async def test_p_pauses_and_that_is_seen(around: Surroundings, measured: Path) -> None:
    async with pages.opened(around, "bench") as seen:
        await seen.press("p")
        await seen.until(lambda: seen.text("#status").startswith("paused"))


@both_sizes
async def test_without_any_run_it_says_what_to_type(around: Surroundings, size: tuple[int, int]) -> None:
    async with pages.opened(around, "bench", size=size) as seen:
        notice = seen.text("#notice")
        assert "No data yet: no measurement is kept. Type: hookbench ab A B" in notice
        assert "in quotes, such as: hookbench ab 'sh old.sh' 'sh new.sh'" in notice
        await seen.same("bench-empty")


@both_sizes
async def test_a_damaged_record_stands_among_the_others(
    around: Surroundings, measured: Path, size: tuple[int, int]
) -> None:
    kept(measured, 7, 1.0).write_text("nonsense\n")
    async with pages.opened(around, "bench", size=size) as seen:
        assert verdicts(seen)[0] == "unreadable"
        assert "is no raw record of hookbench" in seen.text("#details")
        await seen.press("down")
        await seen.until(lambda: "cut short" in seen.text("#details"))
        await seen.same("bench-damaged")


async def test_a_measurement_that_runs_is_seen_with_how_far_it_is(around: Surroundings, cache: Path) -> None:
    file = kept(cache, 1, 1.0, pairs=5, end=False)
    with file.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        async with pages.opened(around, "bench") as seen:
            assert verdicts(seen) == ["running"]
            assert "running: 5 of at most 20 pairs" in seen.text("#details")


async def test_a_folder_that_cannot_be_listed_is_an_error_with_what_to_do(
    around: Surroundings, cache: Path
) -> None:
    cache.mkdir(parents=True)
    (cache / "bench").write_text("a file in its place")
    async with pages.opened(around, "bench") as seen:
        await seen.until(lambda: "error:" in seen.text("#notice"))
        assert "bench" in seen.text("#notice") and "next:" in seen.text("#notice")


@both_sizes
async def test_its_other_looks(around: Surroundings, measured: Path, size: tuple[int, int]) -> None:
    async with pages.opened(around, "bench", size=size) as seen:
        await seen.press("m", "down", "f")
        await seen.until(lambda: "3 of 7" in seen.text("#status"))
        seen.app.screen.query_one("#filter", Input).cursor_blink = False
        await seen.same("bench-scenario")
        await seen.press("escape", "m", "z", "p")
        await seen.until(lambda: seen.text("#status").startswith("paused"))
        await seen.same("bench-paused")
        await seen.press("question_mark")
        await seen.same("bench-help")


@both_sizes
async def test_a_running_measurement_looks(around: Surroundings, cache: Path, size: tuple[int, int]) -> None:
    file = kept(cache, 1, 1.0, pairs=5, end=False)
    with file.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        async with pages.opened(around, "bench", size=size) as seen:
            await seen.same("bench-running")


@both_sizes
async def test_an_error_looks(around: Surroundings, cache: Path, size: tuple[int, int]) -> None:
    cache.mkdir(parents=True)
    (cache / "bench").write_text("a file in its place")
    async with pages.opened(around, "bench", size=size) as seen:
        await seen.same("bench-error")


async def test_no_record_is_opened_on_the_event_loop(around: Surroundings, measured: Path) -> None:
    here, opened = threading.get_ident(), []

    def note(event: str, args: tuple[object, ...]) -> None:
        if event == "open" and here is not None and "ab-2026" in str(args[0]):
            opened.append(threading.get_ident())

    sys.addaudithook(note)
    async with pages.opened(around, "bench") as seen:
        await seen.press("down", "m", "z")
        await seen.settled()
    assert opened and here not in opened
    here = None


async def test_the_axis_grows_with_the_screen(around: Surroundings, measured: Path) -> None:
    async with pages.opened(around, "bench") as seen:
        narrow = len(column(seen, seen.keys[0], "axis"))
        await seen.pilot.resize_terminal(*LARGE)
        await seen.until(lambda: len(column(seen, seen.keys[0], "axis")) > narrow)
