"""Four themes, chosen by key, by option or by NO_COLOR; every text can be read in each of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pages
import pytest
from fruits import FruitPage
from pages import SMALL, Seen, both_sizes, home_environ
from textual.color import Color
from textual.widgets import DataTable

from overdeck.cli.theme import ThemeName
from overdeck.tui.app import PAGES
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.themes import NAMES, NO_COLOUR

pytestmark = pytest.mark.timeout(60)
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def fruits(home: Path, theme: str | None = None, size: tuple[int, int] = SMALL) -> AsyncIterator[Seen]:
    around = Surroundings(home_environ(home), cwd=home, clock=lambda: NOW, live=False)
    async with pages.opened(around, size=size, theme=theme, made=PAGES | {"hooks": FruitPage}) as seen:
        yield seen


def strips(seen: Seen) -> list[list[tuple[Color | None, Color | None, bool]]]:
    """Foreground, background and whether reversed, of every piece of the screen as it is written."""
    found = []
    filters = seen.app.get_line_filters()
    for strip in seen.app.screen._compositor.render_strips():
        for one in filters:
            strip = strip.apply_filter(one, Color.parse("black"))
        found.append(
            [
                (
                    None
                    if s.style.color is None or s.style.color.is_default
                    else Color.from_rich_color(s.style.color),
                    None
                    if s.style.bgcolor is None or s.style.bgcolor.is_default
                    else Color.from_rich_color(s.style.bgcolor),
                    bool(s.style.reverse),
                )
                for s in strip
                if s.style and s.text.strip()
            ]
        )
    return found


async def test_T_goes_through_the_themes_and_comes_back(tmp_path: Path) -> None:
    async with fruits(tmp_path) as seen:
        worn = []
        for _ in NAMES:
            await seen.press("T")
            worn.append(seen.app.theme)
        assert worn == [*NAMES[1:], NAMES[0]]
        await seen.until(lambda: f"theme: {NAMES[0]}" in seen.said)


@both_sizes
@pytest.mark.parametrize("theme", NAMES)
async def test_a_theme_looks_the_same(tmp_path: Path, theme: str, size: tuple[int, int]) -> None:
    async with fruits(tmp_path, theme, size) as seen:
        await seen.same(f"theme-{theme}")


@pytest.mark.parametrize(("theme", "contrast"), [("dark", 4.5), ("light", 4.5), ("high-contrast", 7)])
async def test_text_stands_out_from_what_is_behind_it(tmp_path: Path, theme: str, contrast: float) -> None:
    async with fruits(tmp_path, theme) as seen:
        for strip in strips(seen):
            for front, back, _reverse in strip:
                if front and back:
                    light, dark = sorted((luminance(front), luminance(back)), reverse=True)
                    assert (light + 0.05) / (dark + 0.05) >= contrast, (front, back)


def luminance(colour: Color) -> float:
    """WCAG 2.2's relative luminance."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


async def test_without_colour_no_colour_is_written_and_the_cursor_is_reversed(tmp_path: Path) -> None:
    async with fruits(tmp_path, NO_COLOUR) as seen:
        pieces = [piece for strip in strips(seen) for piece in strip]
        assert {(front, back) for front, back, _reverse in pieces} == {(None, None)}
        cursor = seen.page.query_one(DataTable).region.y + 1
        assert any(reverse for _front, _back, reverse in strips(seen)[cursor])


@pytest.mark.parametrize(("value", "theme"), [("1", NO_COLOUR), ("", NAMES[0])])
async def test_NO_COLOR_starts_without_colour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, theme: str
) -> None:
    monkeypatch.setenv("NO_COLOR", value)
    async with fruits(tmp_path) as seen:
        assert seen.app.theme == theme


def test_the_option_knows_every_theme() -> None:
    assert tuple(ThemeName) == NAMES
