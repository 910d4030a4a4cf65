"""The hooks page, driven by a pilot that waits for what it wants to see and never sleeps."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pages
import pytest
from pages import Seen, home_environ
from textual.widgets import DataTable, Input

from overdeck.authoring.fleet import recipe_for, write_plans
from overdeck.dispatch.plan import parse
from overdeck.paths import Places
from overdeck.telemetry.store import exclusive
from overdeck.tui.surroundings import Surroundings

pytestmark = pytest.mark.timeout(30)


def moment(**ago: float) -> str:
    return (datetime.now(UTC) - timedelta(**ago)).isoformat(timespec="milliseconds")


def fire(places: Places, module: str, ts: str, event: str = "PreToolUse") -> None:
    with places.fires_log.open("a") as log:
        log.write(json.dumps({"ts": ts, "event": event, "module": module, "action": "deny"}) + "\n")


def call(places: Places, plan: str, ts: str, times: int) -> None:
    line = {"ts": ts, "v": 1, "plan": plan, "client": "claude", "event": "PreToolUse", "tool": "Bash", "ran": {}}
    with places.calls_log.open("a") as log:
        log.write((json.dumps(line) + "\n") * times)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Modules acts, later and silent are on; nothing is logged yet."""
    made = Places.from_environment({"HOME": str(tmp_path)})
    made.state.mkdir(parents=True, mode=0o700)
    made.config_dir.mkdir(parents=True, mode=0o700)
    made.config_file.write_text("packs = []\n")
    for id, event in (("acts", "PreToolUse"), ("later", "Stop"), ("silent", "PreToolUse")):
        folder = made.user_modules / id
        folder.mkdir(parents=True, mode=0o700)
        (folder / "module.py").write_text("def evaluate(call):\n    return None\n")
        (folder / "module.toml").write_text(
            f'id = "{id}"\nclass = "gate"\nsummary = "About {id} [brackets]."\n[events]\n{event} = "*"\n'
        )
    return made


@pytest.fixture
def logged(places: Places) -> Places:
    """The same user after 36 days: acts fired twice, silent never, later was never asked."""
    write_plans(recipe_for(places))
    plan = parse((places.plans() / "PreToolUse.plan").read_bytes()).crc
    for days in range(36, 0, -1):
        call(places, plan, moment(days=days, minutes=-5), 10)
    fire(places, "acts", moment(hours=5))
    fire(places, "acts", moment(minutes=2))
    return places


@asynccontextmanager
async def opened(places: Places) -> AsyncIterator[Seen]:
    """The hooks page at 80 by 24, once the ingest tick is done and every row is there."""
    async with pages.opened(Surroundings(home_environ(places.home), live=False)) as seen:
        yield seen


async def test_every_enabled_module_has_a_row(logged: Places) -> None:
    async with opened(logged) as page:
        assert sorted(page.keys) == ["acts", "later", "silent"]
        assert page.keys[0] == "silent"
        shown = page.row("silent")
        assert shown[:2] == ["silent", "removal-candidate"]


async def test_s_sorts_by_the_next_column_and_S_the_other_way(logged: Places) -> None:
    async with opened(logged) as page:
        while "by asked" not in page.text("#status"):
            before = page.text("#status")
            await page.press("s")
            await page.until(lambda before=before: page.text("#status") != before)
        assert page.keys == ["acts", "silent", "later"]
        assert "asked ▼" in [str(column.label) for column in page.table.ordered_columns]
        await page.press("S")
        await page.until(lambda: page.keys == ["later", "acts", "silent"])


async def test_a_click_on_a_header_sorts_by_it_and_a_second_click_flips(logged: Places) -> None:
    async with opened(logged) as page:
        await page.pilot.click(DataTable, offset=(3, 0))
        await page.until(lambda: page.keys == ["acts", "later", "silent"])
        await page.pilot.click(DataTable, offset=(3, 0))
        await page.until(lambda: page.keys == ["silent", "later", "acts"])
        assert "module ▼" in [str(column.label) for column in page.table.ordered_columns]


async def test_a_filter_narrows_as_it_is_typed_and_escape_shows_all(logged: Places) -> None:
    async with opened(logged) as page:
        await page.press("slash", *"silent")
        await page.until(lambda: page.keys == ["silent"])
        assert "1 of 3 modules" in page.text("#status")
        await page.press("enter")
        await page.until(lambda: page.table.has_focus)
        assert page.keys == ["silent"]
        await page.press("escape")
        await page.until(lambda: len(page.keys) == 3)
        assert not page.page.query_one("#filter", Input).display


async def test_letters_typed_into_the_filter_are_no_commands(logged: Places) -> None:
    async with opened(logged) as page:
        await page.press("slash", *"qrs")
        await page.until(lambda: page.app.screen.query_one("#filter", Input).value == "qrs")
        await page.until(lambda: page.keys == [])
        assert page.app.is_running


async def test_selecting_a_module_shows_its_facts_and_last_fires(logged: Places) -> None:
    async with opened(logged) as page:
        row = page.keys.index("acts")
        await page.press(*["down"] * row)
        await page.until(lambda: page.text("#facts").startswith("acts: active"))
        await page.until(lambda: page.text("#fires").count("deny    PreToolUse") == 2)
        assert "About acts [brackets]." in page.text("#facts")
        await page.press(*["up"] * row)
        await page.until(lambda: page.text("#facts").startswith("silent: removal-candidate"))
        await page.until(lambda: "no fires logged" in page.text("#fires"))


async def test_a_refresh_takes_in_new_lines_and_keeps_the_cursor(logged: Places) -> None:
    async with opened(logged) as page:
        await page.press(*["down"] * page.keys.index("acts"))
        await page.until(lambda: page.text("#facts").startswith("acts"))
        fire(logged, "silent", moment(minutes=1))
        await page.press("r")
        await page.until(lambda: page.row("silent")[1] == "active")
        assert page.text("#facts").startswith("acts")


async def test_without_any_log_it_says_what_to_do_and_still_lists_the_modules(places: Places) -> None:
    async with opened(places) as page:
        await page.until(lambda: "overdeck install" in page.text("#notice"))
        assert sorted(page.keys) == ["acts", "later", "silent"]
        assert "unknown" in [page.row(id)[1] for id in page.keys]


async def test_without_any_module_it_says_so(places: Places) -> None:
    for folder in places.user_modules.iterdir():
        (folder / "module.toml").unlink()
    async with opened(places) as page:
        await page.until(lambda: "no module is switched on" in page.text("#notice"))
        assert page.keys == []


async def test_an_error_is_shown_with_what_to_do_next(places: Places) -> None:
    places.config_file.write_text("packs = [")
    async with opened(places) as page:
        await page.until(lambda: "error: the config cannot be read" in page.text("#notice"))
        assert "next: mend" in page.text("#notice")


async def test_while_another_ingest_is_at_work_the_published_data_shows(logged: Places) -> None:
    async with opened(logged):
        pass
    with logged.fires_log.open("a") as log:
        log.write('{"ts":"2026-11-30T10:00:00Z","event":"Stop","module":"new","action":"act"}\n')
    with exclusive(logged):
        async with opened(logged) as page:
            await page.until(lambda: "was published before" in page.text("#notice"))
            assert len(page.keys) == 3


async def test_the_age_of_the_data_shows(logged: Places) -> None:
    async with opened(logged) as page:
        assert "data of " in page.text("#status") and " s ago" in page.text("#status")


async def test_at_80_by_24_the_verdict_and_the_status_are_on_the_screen(logged: Places) -> None:
    async with opened(logged) as page:
        screen = page.app.screen
        table = page.table
        assert table.region.height >= 5
        assert screen.query_one("#status").region.right <= 80
        widths = [column.get_render_width(table) for column in table.ordered_columns]
        assert sum(widths[:6]) <= 80


async def test_a_published_copy_that_cannot_be_read_is_made_anew(logged: Places) -> None:
    logged.published.write_bytes(b"no database of ours")
    async with opened(logged) as page:
        assert sorted(page.keys) == ["acts", "later", "silent"]
