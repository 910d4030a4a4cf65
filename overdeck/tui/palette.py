"""The command palette: the same actions, found by typing; one that can do nothing now is dimmed and says why."""

from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from overdeck.tui.actions import Action

if TYPE_CHECKING:
    from overdeck.tui.page import Page


class Actions(Provider):
    """The actions of the page that the palette was opened on."""

    @property
    def _page(self) -> "Page | None":
        from overdeck.tui.page import Page

        return self.screen if isinstance(self.screen, Page) else None

    async def discover(self) -> Hits:
        page = self._page
        if page:
            for action, reason in page.actions():
                yield DiscoveryHit(
                    _shown(action, reason), page.doing(action.name), action.title, _help(action, reason)
                )

    async def search(self, query: str) -> Hits:
        page = self._page
        matcher = self.matcher(query)
        for action, reason in page.actions() if page else ():
            score = max(matcher.match(action.title), matcher.match(action.help) / 2)
            if page and score > 0:
                shown = _shown(action, reason) if reason else matcher.highlight(action.title)
                yield Hit(score, shown, page.doing(action.name), action.title, _help(action, reason))


def _shown(action: Action, reason: str | None) -> Content:
    return Content(action.title).stylize("dim") if reason else Content(action.title)


def _help(action: Action, reason: str | None) -> str:
    key = f" ({action.keys})" if action.key else ""
    return f"not now: {reason}" if reason else f"{action.help}{key}"
