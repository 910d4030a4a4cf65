"""The incidents page, driven by a pilot that waits for what it wants to see and never sleeps: what is seen."""

import asyncio
import fcntl
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pages
import pytest
from homes import Home
from pages import Seen, home_environ
from registries import grow
from textual.widgets import Input, Markdown, TabbedContent

from overdeck.incidents import creating, noting, registry
from overdeck.incidents.opening import Sighting, open_incident
from overdeck.incidents.resolving import Closing, resolve
from overdeck.tui.help import Help
from overdeck.tui.surroundings import Surroundings

pytestmark = pytest.mark.timeout(60)

AT = "2026-11-30T06:00:00.000Z"

OF_ANOTHER_TYPE = """
[[type]]
id = "machine"
title = "The machine"
[[class]]
id = "C900"
slug = "no-fork"
type = "machine"
title = "No process can be started"
keywords = ["fork"]
severity = "high"
detector = "none yet"
playbook = "hook-timeout.md"
machine_first = true
"""


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
async def opened(root: Path, *, live: bool = False, size: tuple[int, int] = pages.SMALL) -> AsyncIterator[Seen]:
    around = Surroundings(home_environ(root.parent), registry=root, live=live)
    async with pages.opened(around, "incidents", alone=True, size=size) as seen:
        yield seen


def screen(seen: Seen) -> str:
    return "\n".join("".join(s.text for s in seen.table.render_line(y)) for y in range(seen.table.size.height))


def titles(seen: Seen) -> list[str]:
    place = next(i for i, column in enumerate(seen.table.ordered_columns) if column.key.value == "title")
    return [seen.row(key)[place] for key in seen.keys]


class TestTheList:
    async def test_the_status_line_says_which_registry_it_is(self, root: Path) -> None:
        async with opened(root) as page:
            assert page.text("#status").endswith(" · open · ~/incidents")

    async def test_the_open_ones_are_listed_and_t_goes_on_to_the_next_state(self, root: Path) -> None:
        async with opened(root) as page:
            assert sorted(titles(page)) == ["every prompt repeats the rules", "guard killed [at] 5 s"]
            assert "2 of 3 incidents · open" in page.text("#status")
            await page.press("t", "t")
            await page.until(lambda: titles(page) == ["rare"])
            assert "wont-fix" in page.text("#status")

    async def test_a_state_without_incidents_says_so_and_esc_shows_all(self, root: Path) -> None:
        async with opened(root) as page:
            await page.press("t")
            await page.until(lambda: page.keys == [])
            assert "none resolved; esc shows all 3" in screen(page)
            await page.press("escape")
            await page.until(lambda: len(page.keys) == 3)
            assert "esc shows" not in screen(page)

    async def test_what_is_open_in_another_registry_of_this_user_is_named(self, root: Path) -> None:
        environ = home_environ(root.parent)
        other = root.parent / ".local/state/overdeck/incidents"
        creating.create(other)
        record(other, "of the whole machine")
        around = Surroundings(environ, cwd=root.parent, live=False)
        async with pages.opened(around, "incidents", alone=True, size=pages.LARGE) as page:
            told = "~/incidents, this folder's; 1 open in ~/.local/state/overdeck/incidents"
            assert page.text("#status").endswith(told)

    async def test_k_shows_one_type_after_the_other_and_then_all(self, root: Path) -> None:
        with (root / "taxonomy.toml").open("a") as taxonomy:
            taxonomy.write(OF_ANOTHER_TYPE)
        record(root, "the fork was refused", "no-fork")
        async with opened(root) as page:
            seen = []
            for _ in range(3):
                before = page.text("#twin")
                await page.press("k")
                await page.until(lambda before=before: page.text("#twin") != before)
                seen.append((page.text("#twin").partition("--type ")[2].split(" ")[0], sorted(titles(page))))
            assert seen == [
                ("hooks-harness", ["every prompt repeats the rules", "guard killed [at] 5 s"]),
                ("machine", ["the fork was refused"]),
                ("", ["every prompt repeats the rules", "guard killed [at] 5 s", "the fork was refused"]),
            ]

    async def test_the_twin_is_the_command_that_lists_what_is_seen(self, root: Path) -> None:
        async with opened(root) as page:
            await page.press("t", "t", "k")
            await page.until(lambda: "--type" in page.text("#twin"))
            words = page.text("#twin").partition(": od-incidents ")[2].split()
            ran = Home(root.parent / "home").run("od-incidents", *words, cwd=root)
            assert [one["title"] for one in ran.data["incidents"]] == titles(page) == ["rare"]

    async def test_a_click_on_a_header_sorts_by_it_and_a_second_one_the_other_way(self, root: Path) -> None:
        async with opened(root) as page:
            for wanted in (["context-spam", "hook-timeout"], ["hook-timeout", "context-spam"]):
                await page.pilot.click("#incidents", offset=(20, 0))
                await page.until(lambda wanted=wanted: [page.row(key)[2] for key in page.keys] == wanted)


class TestSearching:
    async def test_it_narrows_as_one_types_by_all_that_was_told_and_esc_ends_it(self, root: Path) -> None:
        async with opened(root) as page:
            await page.press("slash")
            await page.type("jour")
            await page.until(lambda: titles(page) == ["guard killed [at] 5 s"])
            assert "od-incidents search jour --json" in page.text("#twin")
            assert page.row(page.keys[0])[1] == "1"
            await page.press("enter")
            await page.until(lambda: page.table.has_focus)
            await page.press("escape")
            await page.until(lambda: len(titles(page)) == 2)
            assert "list --state open" in page.text("#twin")

    async def test_what_is_typed_while_a_search_is_at_work_counts_in_the_end(self, root: Path) -> None:
        async with opened(root) as page:
            await page.press("slash")
            box = page.page.query_one("#filter", Input)
            for text in ("prompt", "prompt rep", "killed"):  # at once: no search is done before the last letter
                box.value = text
            await page.until(lambda: titles(page) == ["guard killed [at] 5 s"])

    async def test_nothing_that_fits_is_an_empty_list(self, root: Path) -> None:
        async with opened(root) as page:
            await page.press("slash")
            await page.type("zzz")
            await page.until(lambda: page.keys == [] and "search zzz" in page.text("#twin"))
            await page.until(lambda: page.text("#story") == "")
            assert "x Resolve" in page.keybar or page.page.why_not("resolve") == "no incident is selected"

    async def test_wide_characters_are_found_and_stay_in_their_columns(self, root: Path) -> None:
        record(root, "ガードが止まった 🚨 起動しない")
        async with opened(root, size=pages.LARGE) as page:
            await page.press("slash")
            await page.type("起動")
            await page.until(lambda: titles(page) == ["ガードが止まった 🚨 起動しない"])
            await page.press("enter")
            await page.until(lambda: "ガードが止まった" in page.text("#story"))


class TestTheStory:
    async def test_it_has_timeline_evidence_and_the_playbook_as_a_page(self, root: Path) -> None:
        async with opened(root) as page:
            await page.press("slash", *"KILLED", "enter")
            await page.until(lambda: "text: the journal is read whole" in page.text("#story"))
            await page.press("d")
            await page.until(lambda: page.page.query_one("#parts", TabbedContent).active == "evidence")
            assert "x resolves it" in page.text("#proofs")
            await page.press("d")
            document = page.page.query_one("#page", Markdown)
            await page.until(lambda: "## What was rejected, and why" in document.source)
            await page.press("d")
            await page.until(lambda: page.page.query_one("#parts", TabbedContent).active == "timeline")

    async def test_a_click_on_its_name_shows_a_part(self, root: Path) -> None:
        async with opened(root) as page:
            await page.pilot.click("#--content-tab-evidence")
            await page.until(lambda: page.page.query_one("#parts", TabbedContent).active == "evidence")

    async def test_it_follows_the_cursor(self, root: Path) -> None:
        async with opened(root) as page:
            for key, title in zip(page.keys, titles(page), strict=True):
                page.table.select(key)
                await page.until(lambda title=title: title in page.text("#story"))

    async def test_a_class_without_page_says_so(self, root: Path) -> None:
        for one in (root / "playbooks").iterdir():
            one.unlink()
        async with opened(root) as page:
            await page.press("d", "d")
            await page.until(lambda: "There is no page" in page.text("#no-page"))
            assert "warning: the playbook of" in page.text("#story")


class TestHowItStands:
    async def test_a_refresh_shows_what_was_recorded_meanwhile(self, root: Path) -> None:
        async with opened(root) as page:
            record(root, "news")
            await page.press("r")
            await page.until(lambda: "news" in titles(page))

    async def test_what_was_recorded_meanwhile_comes_by_itself(self, root: Path) -> None:
        async with opened(root, live=True) as page:
            record(root, "news")
            await page.until(lambda: "news" in titles(page))

    async def test_a_paused_page_says_that_it_is_stale_and_r_reads(self, root: Path) -> None:
        async with opened(root, live=True) as page:
            await page.press("p")
            await page.until(lambda: page.text("#status").startswith("paused"))
            record(root, "news")
            await page.until(lambda: "stale: the log has changed, r reads it" in page.text("#status"))
            assert "news" not in titles(page)
            await page.press("r")
            await page.until(lambda: "news" in titles(page) and "stale" not in page.text("#status"))

    async def test_without_a_registry_it_says_what_to_type_and_finds_the_one_that_is_made(
        self, tmp_path: Path
    ) -> None:
        around = Surroundings(home_environ(tmp_path), cwd=tmp_path, live=True)
        async with pages.opened(around, "incidents") as page:
            await page.until(lambda: "no data yet" in page.text("#status"))
            assert "Type: od-incidents init" in page.text("#notice")
            await page.press("o")
            await page.until(lambda: any("the registry is not read" in word for word in page.said))
            creating.create(tmp_path / "incidents")
            await page.until(lambda: "Press o to open one" in page.text("#notice"))

    async def test_a_registry_that_is_broken_is_an_error_with_what_to_do(self, root: Path) -> None:
        async with opened(root) as page:
            (root / "registry.toml").write_text("branch = [")
            await page.press("r")
            await page.until(lambda: "error: " in page.text("#notice") and "next: " in page.text("#notice"))
            assert len(titles(page)) == 2

    async def test_damage_in_the_log_is_told_beside_the_rest(self, root: Path) -> None:
        (log,) = (root / "log").glob("*.jsonl")
        log.write_bytes(log.read_bytes() + b'{"id":"torn')
        async with opened(root) as page:
            await page.until(lambda: "warning: " in page.text("#notice"))
            assert len(titles(page)) == 2

    async def test_a_taxonomy_that_is_broken_is_a_warning_and_the_rest_is_listed(self, root: Path) -> None:
        (root / "taxonomy.toml").write_text("class = 5")
        async with opened(root) as page:
            await page.until(lambda: "warning: " in page.text("#notice") and len(titles(page)) == 2)

    async def test_while_another_process_holds_the_log_it_is_read_as_ever(self, root: Path) -> None:
        (log,) = (root / "log").glob("*.jsonl")
        held = os.open(log, os.O_RDWR)
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            async with opened(root) as page:
                assert len(titles(page)) == 2
        finally:
            os.close(held)

    async def test_help_lists_the_actions_and_why_some_do_nothing_now(self, root: Path) -> None:
        async with opened(root) as page:
            await page.press("question_mark")
            await page.until(lambda: isinstance(page.app.screen, Help))
            keys = page.text("#keys")
            for action in page.page.OWN:
                assert action.help in keys
            assert "there is no evidence that holds it closed" in keys


async def test_a_thousand_incidents_are_listed_and_searched(tmp_path: Path) -> None:
    creating.create(tmp_path / "incidents")
    grow(tmp_path / "incidents", 1_000, 3_000)
    async with opened(tmp_path / "incidents") as page:
        await page.press("t", "t", "t", "t")
        await page.until(lambda: len(page.keys) == 1_000)
        wanted = page.row(page.keys[700])[0]
        await page.press("slash")
        await page.type(wanted.lower())
        await page.until(lambda: [page.row(key)[0] for key in page.keys][:1] == [wanted])
        await page.until(lambda: wanted in page.text("#story"))


def test_looking_changes_nothing_of_the_registry(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}

    async def look() -> None:
        async with opened(root) as page:
            await page.press("t", "t", "t", "t", "k", "d", "d", "slash", "a", "enter", "escape", "r")
            await page.settled()

    asyncio.run(look())
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


async def test_no_file_of_the_registry_is_opened_on_the_event_loop(root: Path) -> None:
    here, files = threading.get_ident(), []

    def note(event: str, args: tuple[object, ...]) -> None:
        if event in ("open", "sqlite3.connect") and here is not None and str(args[0]).startswith(str(root)):
            files.append(threading.get_ident())

    sys.addaudithook(note)
    async with opened(root) as page:
        await page.press("down", "t", "t", "k", "d", "d", "slash", "g", "enter", "escape", "r")
        await page.settled()
    assert files and here not in files
    here = None


def test_without_a_terminal_it_names_its_twin(root: Path) -> None:
    ran = Home(root.parent / "home").run("od-incidents", "tui", "--registry", str(root), cwd=root)
    assert (ran.code, "od-incidents list --json" in ran.err) == (2, True)
