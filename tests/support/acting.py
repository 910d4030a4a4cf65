"""Acting on the incidents page of a clone's registry as a user does: keys, forms, and what is said."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pages
from clones import Clone
from pages import Seen
from textual.widgets import Input

from overdeck.tui.forms import Form
from overdeck.tui.surroundings import Surroundings


@asynccontextmanager
async def opened(clone: Clone, *, states: int = 0, live: bool = False) -> AsyncIterator[Seen]:
    """The page of the clone's registry, ``t`` pressed so often."""
    around = Surroundings(clone.env, cwd=clone.top, live=live)
    async with pages.opened(around, "incidents") as seen:
        for _ in range(states):
            before = seen.text("#twin")
            await seen.press("t")
            await seen.until(lambda before=before: seen.text("#twin") != before)
        await seen.settled()
        yield seen


async def fill(seen: Seen, **answers: str) -> None:
    """Answer the form in front, and press enter."""
    await seen.until(lambda: isinstance(seen.app.screen, Form))
    for name, text in answers.items():
        seen.app.screen.query_one(f"#field-{name.rstrip('_')}", Input).value = text
    await seen.press("enter")


async def refused(seen: Seen, text: str) -> None:
    """The form is there (still, or again) with the reason."""
    await seen.until(lambda: isinstance(seen.app.screen, Form) and text in seen.text("#refused"))


def state_of(clone: Clone, name: str) -> str:
    rows = clone.od("list", "--state", "all", "--json").data["incidents"]
    return next(row["state"] for row in rows if row["id"] == name)


def told(seen: Seen, text: str) -> bool:
    return any(text in word for word in seen.said)
