"""Every page has a screen of each of its states, at both sizes: the table in docs/plans/tui.md names them all."""

import re
from pathlib import Path

import pytest
from pages import LARGE, SMALL
from snapshots import FOLDER

PLAN = Path(__file__).resolve().parents[2] / "docs" / "plans" / "tui.md"
SIZES = [f"{width}x{height}" for width, height in (SMALL, LARGE)]
PAGES = ("hooks", "incidents", "machine", "bench")


def table() -> dict[str, list[str]]:
    """State → the cells of its row: hooks, incidents, machine, bench."""
    text = PLAN.read_text("utf-8").partition("## The screens that are kept")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {state: cells for state, *cells in rows[2:]}


def names(text: str) -> list[str]:
    return re.findall(r"`([a-z][\w-]*)`", text)


ROWS = table()


@pytest.mark.parametrize("state", ROWS)
def test_each_page_has_a_screen_of_the_state_or_a_reason_why_not(state: str) -> None:
    assert len(ROWS[state]) == len(PAGES)
    for page, cell in zip(PAGES, ROWS[state], strict=True):
        assert names(cell) or cell.startswith("none: "), (state, page)


@pytest.mark.parametrize("size", SIZES)
def test_every_screen_that_is_named_is_there_and_every_one_that_is_there_is_named(size: str) -> None:
    named = {name for cells in ROWS.values() for cell in cells for name in names(cell)}
    kept = {path.stem.removesuffix(f"-{size}") for path in FOLDER.glob(f"*-{size}.svg")}
    assert kept == named


def test_no_screen_is_kept_at_another_size() -> None:
    assert [path.name for path in FOLDER.iterdir() if not path.stem.endswith(tuple(SIZES))] == []
