"""The frame of every page: pages behind keys, one registry of actions, how things stand, themes, help, palette."""

from datetime import UTC, datetime
from pathlib import Path

import pages
import pytest
from pages import both_sizes, home_environ

from overdeck.tui.surroundings import Surroundings

pytestmark = pytest.mark.timeout(60)
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    """A user with nothing: no module, no registry, no run; it is noon."""
    return Surroundings(home_environ(tmp_path), cwd=tmp_path, clock=lambda: NOW, live=False)


async def test_keys_1_to_4_lead_to_the_pages(around: Surroundings) -> None:
    async with pages.opened(around) as seen:
        for key, page in (("2", "incidents"), ("3", "machine"), ("4", "bench"), ("1", "hooks")):
            await seen.press(key)
            await seen.until(lambda page=page: page == seen.page.PAGE)


@both_sizes
async def test_the_help_looks_the_same(around: Surroundings, size: tuple[int, int]) -> None:
    async with pages.opened(around, "bench", size=size) as seen:
        await seen.press("question_mark")
        await seen.same("help")
