"""The hooks page as it looks, in each of its states, on a small and on a large screen."""

from datetime import timedelta
from pathlib import Path

import pytest
from hookhomes import HookHome
from hookpages import opened
from pages import both_sizes

from overdeck.incidents import creating
from overdeck.telemetry.store import exclusive

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
