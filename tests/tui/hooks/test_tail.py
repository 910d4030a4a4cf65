"""Fires as they are logged, below the table of the hooks page."""

import threading

import pytest
from hookhomes import NOON, HookHome
from hookpages import opened, page_of

from overdeck.telemetry.ingest import ingest
from overdeck.tui.hooks.tail import TailPane

pytestmark = pytest.mark.timeout(60)


async def test_l_shows_fires_as_they_are_logged_also_while_they_are_taken_in(home: HookHome) -> None:
    async with opened(home, live=True) as seen:
        await seen.press("l")
        pane = seen.page.query_one(TailPane)
        await seen.until(lambda: pane.display and any("fails" in line for line in pane.lines))
        stop = threading.Event()

        def keep_ingesting() -> None:
            while not stop.is_set():
                ingest(home.places, now=NOON)

        worker = threading.Thread(target=keep_ingesting)
        worker.start()
        try:
            for number in range(3):
                home.fire(f"live-{number}", seconds=1)
                await seen.until(lambda number=number: any(f"live-{number}" in line for line in pane.lines))
        finally:
            stop.set()
            worker.join()
        assert sum("live-1" in line for line in pane.lines) == 1
        await seen.press("l")
        await seen.until(lambda: not pane.display)


async def test_a_paused_page_stands_still_and_says_so(home: HookHome) -> None:
    async with opened(home, live=True) as seen:
        await seen.press("l", "p")
        await seen.until(lambda: seen.text("#status").startswith("paused"))
        await seen.settled()
        pane = seen.page.query_one(TailPane)
        home.fire("late", seconds=1)
        home.fire("silent", seconds=1)
        page_of(seen)._follow()
        page_of(seen)._load_by_itself()
        await seen.settled()
        assert not any("late" in line for line in pane.lines)
        assert seen.row("silent")[1] == "removal-candidate"
        await seen.press("p")
        await seen.until(lambda: any("late" in line for line in pane.lines))
        await seen.until(lambda: seen.row("silent")[1] == "active")
