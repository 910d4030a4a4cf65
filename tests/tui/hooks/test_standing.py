"""How the hooks page stands: fresh, without data, locked, in trouble; never on the event loop."""

import json
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hookhomes import HookHome
from hookpages import ALL, on, opened

from overdeck.telemetry.store import exclusive
from overdeck.wiring.deadlauncher import dead_launchers

pytestmark = pytest.mark.timeout(60)


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


async def test_where_no_gate_runs_the_page_warns_as_the_commands_do(home: HookHome) -> None:
    settings = home.places.claude_dir / "settings.json"
    receipts = home.places.state / "installed"
    receipts.mkdir()
    (receipts / "one.json").write_text(json.dumps({"file": str(settings)}))
    (warning,) = dead_launchers(home.places)
    assert "the entries that install wrote are gone from it; next: overdeck doctor" in warning
    async with opened(home) as seen:
        assert seen.text("#notice").startswith(f"warning: {seen.page.around.at_home(warning)}")
