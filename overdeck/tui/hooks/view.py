"""What of the report is shown: which verdicts, of which time, in which groups; and the command that prints the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from overdeck.telemetry.advice import asks
from overdeck.telemetry.columns import filter_rows
from overdeck.telemetry.report import ModuleRow, Report
from overdeck.telemetry.words import parse_since

WINDOWS = ("1h", "24h", "7d", "30d", "90d")
GROUPS = ("", "event", "plugin")
ONLY: dict[str, Callable[[ModuleRow], bool]] = {
    "": lambda _row: True,
    "suspects": asks,
    "candidates": lambda row: row.verdict == "removal-candidate",
}
"""What ``z`` shows, in turn → which rows these are."""


def _after(choices: Sequence[str], chosen: str) -> str:
    return choices[(choices.index(chosen) + 1) % len(choices)]


@dataclass(frozen=True)
class View:
    """One way to look at a report; each choice has a next one, round and round."""

    window: str = "7d"
    group: str = GROUPS[0]
    only: str = ""

    @property
    def since(self) -> timedelta:
        return parse_since(self.window)

    def next_window(self) -> "View":
        return replace(self, window=_after(WINDOWS, self.window))

    def next_group(self) -> "View":
        return replace(self, group=_after(GROUPS, self.group))

    def next_only(self) -> "View":
        return replace(self, only=_after(tuple(ONLY), self.only))

    def rows(self, found: Report, text: str) -> list[ModuleRow]:
        """The rows of the verdicts that are chosen, and in which ``text`` is."""
        wanted = ONLY[self.only]
        return [row for row in filter_rows(found.all_rows, text) if wanted(row)]

    def nothing(self, found: Report, text: str) -> str:
        """What stands in the place of rows where none is chosen."""
        what = {"": "none", "suspects": "none asks for a decision", "candidates": "none may be removed"}[self.only]
        fits = f" and fits {text!r}" if text and self.only else f" fits {text!r}" if text else ""
        return f"{what}{fits}; esc shows all {len(found.all_rows)}" if found.all_rows else ""

    def twin(self, sorted_by: str) -> str:
        """The command that prints it as JSON."""
        if self.only == "candidates":
            return "overdeck fires candidates --json"
        if self.only:
            return f"overdeck fires suspects --since {self.window} --json"
        return f"overdeck fires --since {self.window} --sort {sorted_by} --json"

    def facts(self, found: Report, shown: int, sorted_by: str) -> list[str]:
        """What the status line says of it."""
        modules, hooks = len(found.rows), len(found.hooks)
        return [
            f"{shown} of {modules + hooks}: {modules} modules, {hooks} un-adopted hooks",
            *([f"only {self.only}"] if self.only else []),
            f"last {self.window}",
            f"by {sorted_by}",
            *([f"in groups by {self.group}"] if self.group else []),
        ]
