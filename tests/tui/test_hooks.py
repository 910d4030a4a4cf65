"""The hooks page, driven by a pilot that waits for what it wants to see and never sleeps."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.binding import Binding
from textual.pilot import Pilot
from textual.widgets import DataTable, Input, Static

from overdeck.authoring.fleet import recipe_for, write_plans
from overdeck.dispatch.plan import parse
from overdeck.paths import Places
from overdeck.telemetry.store import exclusive
from overdeck.tui.app import OverdeckApp
from overdeck.tui.help import Help
from overdeck.tui.hooks import HooksPage

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


class Page:
    """What a user sees, and the wait until it is so."""

    def __init__(self, pilot: Pilot[Any]) -> None:
        self.pilot = pilot
        self.app = pilot.app

    @property
    def table(self) -> DataTable[Any]:
        return self.app.screen_stack[1].query_one(DataTable)

    @property
    def ids(self) -> list[str]:
        return [str(key.value) for key in (self.table.ordered_rows[i].key for i in range(self.table.row_count))]

    def text(self, selector: str) -> str:
        return str(self.app.screen_stack[-1].query_one(selector, Static).content)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Let the application work until ``condition`` holds; the timeout ends a wait for what never comes."""
        while not condition():
            await self.pilot.pause(0.01)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)


@asynccontextmanager
async def opened(places: Places) -> AsyncIterator[Page]:
    """The application at 80 by 24, once the ingest tick is done and every row is there."""
    app = OverdeckApp(places)
    async with app.run_test(size=(80, 24)) as pilot:
        page = Page(pilot)
        await page.until(lambda: isinstance(app.screen, HooksPage) and page.table.row_count > 0)
        await page.until(lambda: "modules" in page.text("#status"))
        yield page


async def test_every_enabled_module_has_a_row(logged: Places) -> None:
    async with opened(logged) as page:
        assert sorted(page.ids) == ["acts", "later", "silent"]
        assert page.ids[0] == "silent"
        shown = [str(cell) for cell in page.table.get_row("silent")]
        assert shown[:2] == ["silent", "removal-candidate"]


async def test_s_sorts_by_the_next_column_and_S_the_other_way(logged: Places) -> None:
    async with opened(logged) as page:
        while "by asked" not in page.text("#status"):
            before = page.text("#status")
            await page.press("s")
            await page.until(lambda before=before: page.text("#status") != before)
        assert page.ids == ["acts", "silent", "later"]
        assert "asked ▼" in [str(column.label) for column in page.table.ordered_columns]
        await page.press("S")
        await page.until(lambda: page.ids == ["later", "acts", "silent"])


async def test_a_click_on_a_header_sorts_by_it_and_a_second_click_flips(logged: Places) -> None:
    async with opened(logged) as page:
        await page.pilot.click(DataTable, offset=(3, 0))
        await page.until(lambda: page.ids == ["acts", "later", "silent"])
        await page.pilot.click(DataTable, offset=(3, 0))
        await page.until(lambda: page.ids == ["silent", "later", "acts"])
        assert "module ▼" in [str(column.label) for column in page.table.ordered_columns]


async def test_a_filter_narrows_as_it_is_typed_and_escape_shows_all(logged: Places) -> None:
    async with opened(logged) as page:
        await page.press("slash", *"silent")
        await page.until(lambda: page.ids == ["silent"])
        assert page.text("#status").startswith("1 of 3 modules")
        await page.press("enter")
        await page.until(lambda: page.table.has_focus)
        assert page.ids == ["silent"]
        await page.press("escape")
        await page.until(lambda: len(page.ids) == 3)
        assert not page.app.screen.query_one("#filter", Input).display


async def test_letters_typed_into_the_filter_are_no_commands(logged: Places) -> None:
    async with opened(logged) as page:
        await page.press("slash", *"qrs")
        await page.until(lambda: page.app.screen.query_one("#filter", Input).value == "qrs")
        await page.until(lambda: page.ids == [])
        assert page.app.is_running


async def test_selecting_a_module_shows_its_facts_and_last_fires(logged: Places) -> None:
    async with opened(logged) as page:
        row = page.ids.index("acts")
        await page.press(*["down"] * row)
        await page.until(lambda: page.text("#facts").startswith("acts: active"))
        await page.until(lambda: page.text("#fires").count("deny    PreToolUse") == 2)
        assert "About acts [brackets]." in page.text("#facts")
        await page.press(*["up"] * row)
        await page.until(lambda: page.text("#facts").startswith("silent: removal-candidate"))
        await page.until(lambda: "no fires logged" in page.text("#fires"))


async def test_a_refresh_takes_in_new_lines_and_keeps_the_cursor(logged: Places) -> None:
    async with opened(logged) as page:
        await page.press(*["down"] * page.ids.index("acts"))
        await page.until(lambda: page.text("#facts").startswith("acts"))
        fire(logged, "silent", moment(minutes=1))
        await page.press("r")
        await page.until(lambda: str(page.table.get_row("silent")[1]) == "active")
        assert page.text("#facts").startswith("acts")


async def test_without_any_log_it_says_what_to_do_and_still_lists_the_modules(places: Places) -> None:
    async with opened(places) as page:
        await page.until(lambda: "overdeck install" in page.text("#notice"))
        assert sorted(page.ids) == ["acts", "later", "silent"]
        assert "unknown" in [str(page.table.get_row(id)[1]) for id in page.ids]


async def test_without_any_module_it_says_so(places: Places) -> None:
    for folder in places.user_modules.iterdir():
        (folder / "module.toml").unlink()
    async with OverdeckApp(places).run_test(size=(80, 24)) as pilot:
        page = Page(pilot)
        await page.until(lambda: len(pilot.app.screen_stack) > 1)
        await page.until(lambda: "No module is switched on" in page.text("#notice"))
        assert page.ids == []


async def test_an_error_is_shown_with_what_to_do_next(places: Places) -> None:
    places.config_file.write_text("packs = [")
    async with OverdeckApp(places).run_test(size=(80, 24)) as pilot:
        page = Page(pilot)
        await page.until(lambda: len(pilot.app.screen_stack) > 1)
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
            assert len(page.ids) == 3


async def test_the_age_of_the_data_shows(logged: Places) -> None:
    async with opened(logged) as page:
        assert " s old" in page.text("#status")


async def test_the_help_names_every_key_of_the_page(logged: Places) -> None:
    async with opened(logged) as page:
        await page.press("question_mark")
        await page.until(lambda: isinstance(page.app.screen, Help))
        keys = page.text("#keys")
        for binding in HooksPage.BINDINGS:
            assert isinstance(binding, Binding) and binding.tooltip in keys
        await page.press("escape")
        await page.until(lambda: isinstance(page.app.screen, HooksPage))


async def test_q_quits(logged: Places) -> None:
    async with opened(logged) as page:
        await page.press("q")
        await page.until(lambda: not page.app.is_running)
        assert page.app.return_code == 0


async def test_at_80_by_24_the_verdict_and_the_status_are_on_the_screen(logged: Places) -> None:
    async with opened(logged) as page:
        screen = page.app.screen
        table = page.table
        assert table.region.height >= 5
        assert screen.query_one("#status").region.right <= 80
        widths = [column.get_render_width(table) for column in table.ordered_columns]
        assert sum(widths[:6]) <= 80


@pytest.mark.parametrize("first", [(), ("slash",), ("question_mark",)], ids=["table", "filter", "help"])
async def test_ctrl_c_quits_wherever_the_user_is(logged: Places, first: tuple[str, ...]) -> None:
    async with opened(logged) as page:
        await page.press(*first, "ctrl+c")
        await page.until(lambda: not page.app.is_running)
        assert page.app.return_code == 0


async def test_a_published_copy_that_cannot_be_read_is_made_anew(logged: Places) -> None:
    logged.published.write_bytes(b"no database of ours")
    async with opened(logged) as page:
        assert sorted(page.ids) == ["acts", "later", "silent"]
