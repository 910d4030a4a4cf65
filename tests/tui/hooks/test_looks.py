"""The hooks page as it looks, in each of its states, on a small and on a large screen."""

from datetime import timedelta
from pathlib import Path

import pytest
from hookhomes import NOON, HookHome
from hookpages import on, opened
from pages import both_sizes
from textual.widgets import Input

from overdeck.authoring.canaries import remember
from overdeck.authoring.inventory import find
from overdeck.authoring.matrix import MatrixResult
from overdeck.incidents import creating
from overdeck.telemetry.store import exclusive
from overdeck.tui.choose import Choose
from overdeck.tui.confirm import Confirm
from overdeck.tui.forms import Form
from overdeck.tui.hooks.pane import Detail

pytestmark = pytest.mark.timeout(60)


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
async def test_its_questions_and_its_help_look(home: HookHome, root: Path, size: tuple[int, int]) -> None:
    async with opened(home, root, size=size) as seen:
        await seen.press("question_mark")
        await seen.same("hooks-help")
        await seen.press("escape")
        await seen.palette("live tail")
        await seen.same("hooks-palette")
        await seen.press("escape")
        await seen.until(lambda: seen.app.screen is seen.page)
        await on(seen, "fails")
        await seen.press("o")
        await seen.until(lambda: isinstance(seen.app.screen, Choose))
        await seen.press("down", "space")
        await seen.same("hooks-open-causes")
        await seen.press("escape")
        await on(seen, "silent")
        await seen.press("k")
        await seen.until(lambda: isinstance(seen.app.screen, Form))
        seen.app.screen.query_one(Input).cursor_blink = False
        await seen.press("enter")
        await seen.same("hooks-keep")
        await seen.press("escape", "slash", *"gua")
        await seen.until(lambda: seen.keys == ["guard.py"])
        seen.page.query_one("#filter", Input).cursor_blink = False
        await on(seen, "guard.py")
        await seen.same("hooks-filter")


@both_sizes
async def test_an_incident_of_one_cause_looks(home: HookHome, root: Path, size: tuple[int, int]) -> None:
    manifest = find(home.places, "silent").manifest
    remember(home.places, [(manifest, MatrixResult("silent", 2, ["denies: got nothing"]))], NOON)
    async with opened(home, root, size=size) as seen:
        await on(seen, "silent")
        await seen.press("o")
        await seen.until(lambda: isinstance(seen.app.screen, Confirm))
        await seen.same("hooks-open-one")


@both_sizes
async def test_what_cannot_be_read_looks(empty: HookHome, size: tuple[int, int]) -> None:
    (empty.places.claude_dir / "settings.json").write_text("{")
    async with opened(empty, size=size) as seen:
        await seen.same("hooks-settings-unreadable")
        empty.places.config_file.write_text("packs = [")
        await seen.press("r")
        await seen.until(lambda: "error: " in seen.text("#notice"))
        await seen.same("hooks-config-broken")


@both_sizes
async def test_without_a_module_and_without_a_registry_looks(empty: HookHome, size: tuple[int, int]) -> None:
    async with opened(empty, size=size) as seen:
        await seen.until(lambda: "there is no incident registry" in seen.text("#beyond"))
        seen.page.query_one(Detail).scroll_end(animate=False)
        await seen.same("hooks-no-registry")
        for folder in empty.places.user_modules.iterdir():
            (folder / "module.toml").unlink()
        await seen.press("r")
        await seen.until(lambda: seen.keys == [])
        await seen.same("hooks-none")


@both_sizes
async def test_two_hundred_modules_look(empty: HookHome, size: tuple[int, int]) -> None:
    for number in range(200):
        empty.module(f"module-{number:03}")
    async with opened(empty, size=size) as seen:
        await seen.same("hooks-many")


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
