"""The incidents page, driven by a pilot that waits for what it wants to see and never sleeps."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pages
import pytest
from homes import Home
from pages import Seen, home_environ

from overdeck.incidents import creating, noting, registry
from overdeck.incidents.opening import Sighting, open_incident
from overdeck.incidents.resolving import Closing, resolve
from overdeck.tui.surroundings import Surroundings

pytestmark = pytest.mark.timeout(30)

AT = "2026-11-30T06:00:00.000Z"


def record(root: Path, title: str, class_name: str = "hook-timeout") -> str:
    seen = open_incident(registry.load(root), Sighting(class_name, title), AT, warn=pytest.fail)
    return seen.incident.id


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A registry with two open incidents and one that was left as it is."""
    made = tmp_path / "incidents"
    creating.create(made)
    name = record(made, "guard killed [at] 5 s")
    noting.note(registry.load(made), name, "the journal is read whole", AT, key=None, warn=pytest.fail)
    record(made, "every prompt repeats the rules", "context-spam")
    claim = Closing([record(made, "rare")], wont_fix=True, because="one host")
    resolve(registry.load(made), claim, AT, warn=pytest.fail)
    return made


@asynccontextmanager
async def opened(root: Path) -> AsyncIterator[Seen]:
    around = Surroundings(home_environ(root.parent), registry=root, live=False)
    async with pages.opened(around, "incidents", alone=True) as seen:
        yield seen


def titles(seen: Seen) -> list[str]:
    return [seen.row(key)[-1] for key in seen.keys]


async def test_the_open_ones_are_listed_and_o_goes_on_to_the_next_state(root: Path) -> None:
    async with opened(root) as page:
        assert sorted(titles(page)) == ["every prompt repeats the rules", "guard killed [at] 5 s"]
        assert "2 of 3 incidents · open" in page.text("#status")
        await page.press("o", "o")
        await page.until(lambda: titles(page) == ["rare"])
        assert "wont-fix" in page.text("#status")


async def test_the_selected_one_is_told_with_its_timeline_and_playbook(root: Path) -> None:
    async with opened(root) as page:
        await page.press("slash", *"KILLED", "enter")
        await page.until(lambda: titles(page) == ["guard killed [at] 5 s"])
        await page.until(lambda: "text: the journal is read whole" in page.text("#story"))
        assert "## What was rejected, and why" in page.text("#story")
        await page.press("escape")
        await page.until(lambda: len(titles(page)) == 2)


async def test_a_refresh_shows_what_was_recorded_meanwhile(root: Path) -> None:
    async with opened(root) as page:
        record(root, "news")
        await page.press("r")
        await page.until(lambda: "news" in titles(page))


async def test_an_empty_registry_says_what_to_type(tmp_path: Path) -> None:
    creating.create(tmp_path / "incidents")
    async with opened(tmp_path / "incidents") as page:
        await page.until(lambda: "Quit and type: od-incidents open" in page.text("#notice"))


async def test_a_registry_that_is_gone_is_an_error_with_what_to_do(root: Path) -> None:
    async with opened(root) as page:
        (root / "registry.toml").write_text("branch = [")
        await page.press("r")
        await page.until(lambda: "error: " in page.text("#notice") and "next: " in page.text("#notice"))


async def test_damage_in_the_log_is_told_beside_the_rest(root: Path) -> None:
    (log,) = (root / "log").glob("*.jsonl")
    log.write_bytes(log.read_bytes() + b'{"id":"torn')
    async with opened(root) as page:
        await page.until(lambda: "warning: " in page.text("#notice"))
        assert len(titles(page)) == 2


def test_looking_changes_nothing_of_the_registry(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}

    async def look() -> None:
        async with opened(root) as page:
            await page.press("o", "o", "o", "o", "r")

    import asyncio

    asyncio.run(look())
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_without_a_terminal_it_names_its_twin(root: Path) -> None:
    ran = Home(root.parent / "home").run("od-incidents", "tui", "--registry", str(root), cwd=root)
    assert (ran.code, "od-incidents list --json" in ran.err) == (2, True)
