"""The hooks page of the users in ``hookhomes``, under a pilot."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pages
from hookhomes import HookHome
from pages import Seen

from overdeck.tui.hooks import HooksPage

ALL = ["fails", "silent", "監査🛡.py", "later", "acts", "guard.py"]
"""The rows of ``hookhomes.full``, by verdict."""


@asynccontextmanager
async def opened(home: HookHome, root: Path | None = None, **more: Any) -> AsyncIterator[Seen]:
    """The hooks page once every row is there; ``root``: the registry of incidents that was chosen."""
    live = more.pop("live", False)
    async with pages.opened(home.around(live=live, registry=root), **more) as seen:
        yield seen


async def on(seen: Seen, id: str) -> None:
    """The cursor on a row, and what lies beyond its counts on the screen."""
    seen.table.select(id)
    await seen.until(lambda: seen.text("#facts").startswith(f"{id}: "))
    await seen.settled()


def page_of(seen: Seen) -> HooksPage:
    assert isinstance(seen.page, HooksPage)
    return seen.page
