"""What can be done on the hooks page, and why not where it cannot."""

from typing import TYPE_CHECKING

from overdeck.telemetry.advice import why_no_canary, why_no_keep
from overdeck.telemetry.removal import why_not as why_no_removal
from overdeck.tui.actions import Action

if TYPE_CHECKING:
    from overdeck.telemetry.report import ModuleRow
    from overdeck.tui.hooks.page import HooksPage

NO_ROW = "no module or hook is selected"
NOT_READ = "its incidents are being read"


def _row(page: "HooksPage") -> "ModuleRow | None":
    return page.selected_row


def _no_canary(page: "HooksPage") -> str | None:
    row = _row(page)
    if row is not None and row.id in page.running:
        return f"the canary of {row.id} is running"
    return NO_ROW if row is None else why_no_canary(row) or None


def _no_keep(page: "HooksPage") -> str | None:
    row = _row(page)
    return NO_ROW if row is None else why_no_keep(row) or None


def _no_word(page: "HooksPage") -> str | None:
    row = _row(page)
    if row is None:
        return NO_ROW
    return None if row.keep is not None else "nobody gave a word for it"


def _no_removal(page: "HooksPage") -> str | None:
    row = _row(page)
    return NO_ROW if row is None else why_no_removal(row) or None


def _no_incident(page: "HooksPage") -> str | None:
    row = _row(page)
    if row is None or page.found is None:
        return NO_ROW
    if page.detail.registry_problem is not None:
        return f"{page.detail.registry_problem.message}. Next: {page.detail.registry_problem.hint}"
    if page.detail.related is None:
        return NOT_READ
    from overdeck.incidents import ofmodule  # loaded by now: a worker read its incidents

    return ofmodule.why_not(row, page.found.as_of) or None


def _no_class(page: "HooksPage") -> str | None:
    if _row(page) is None:
        return NO_ROW
    related, problem = page.detail.related, page.detail.registry_problem
    if related is None:
        return NOT_READ if problem is None else problem.message
    return None if related.classes or related.about else "no class of incidents is about this verdict"


OF_A_ROW = ("canary", "keep", "let_go", "removal", "incident", "incidents")
"""The actions that are about the selected row."""


def here(page: "HooksPage") -> list[str]:
    """The keys that do something for the selected row now, for who reads the pane and not the help.

    And which registry ``o`` would write to: hooks are per home, a registry is found from the folder one starts in.
    """
    can = [one for one in ACTIONS if one.name in OF_A_ROW and one.available(page) is None]
    lines = [f"here: {', '.join(f'{one.keys} {one.title.lower()}' for one in can)}"] if can else []
    if any(one.name == "incident" for one in can):
        lines.append(f"o writes to {page.detail.registry}")
    return lines


ACTIONS = (
    Action(
        "only",
        "z",
        "Suspects",
        "Show only what asks for a decision, then only what may be removed, then all again",
    ),
    Action("group", "g", "Group", "Group by event, then by plugin or pack, then not at all"),
    Action("window", "w", "Window", "Count the last hour, day, 7, 30 or 90 days"),
    Action("tail", "l", "Live tail", "Show fires below the table as they are logged, or hide them"),
    Action(
        "canary", "t", "Test", "Run the module's own matrix through the front: its canary (worker)", _no_canary
    ),
    Action("keep", "k", "Keep", "Give your word, with a reason, that the module stays although silent", _no_keep),
    Action(
        "let_go", "K", "Let go", "Take your word back: the module is judged like the others", _no_word, bar=False
    ),
    Action(
        "removal",
        "x",
        "Removal",
        "Copy the command that switches the module off; nothing is ever removed from here",
        _no_removal,
    ),
    Action("incident", "o", "Open incident", "Open an incident of what is wrong with the row", _no_incident),
    Action("incidents", "i", "Its incidents", "Go to the incidents of its class", _no_class, bar=False),
)
