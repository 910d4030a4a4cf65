"""Rows in groups, as a page shows them: by event or by where they come from."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from overdeck.telemetry.report import ModuleRow


@dataclass(frozen=True)
class Group:
    """Rows under one heading; ``share`` and ``fired`` are of all of them together.

    A row of two events is in two groups by event, with all its counts: they are not kept apart by event there.
    """

    name: str
    rows: tuple[ModuleRow, ...]

    @property
    def fired(self) -> int:
        return sum(row.fired for row in self.rows)

    @property
    def share(self) -> float:
        return sum(row.share for row in self.rows)


GROUPS: dict[str, Callable[[ModuleRow], Sequence[str]]] = {
    "event": lambda row: [event for event, _matcher in row.events] or ["(no event)"],
    "plugin": lambda row: [row.source or "(gone)"],
}
"""What rows can be grouped by → the names of the groups a row is in."""


def grouped(rows: Iterable[ModuleRow], by: str) -> list[Group]:
    """Groups by name, in each the rows in the order given. ``by`` is a key of ``GROUPS``, or empty: one group."""
    if not by:
        return [Group("", tuple(rows))]
    found: dict[str, list[ModuleRow]] = {}
    for row in rows:
        for name in dict.fromkeys(GROUPS[by](row)):
            found.setdefault(name, []).append(row)
    return [Group(name, tuple(found[name])) for name in sorted(found)]
