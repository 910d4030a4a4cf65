"""What the settings say, held against what the transcripts recorded: hooks that broke, and hooks without a record."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from overdeck.wiring.handler import Handler
from overdeck.wiring.rules import Finding
from overdeck.wiring.rules.rule import Severity
from overdeck.wiring.settings import Settings

if TYPE_CHECKING:
    from overdeck.telemetry.transcripts.costs import CommandCost, TranscriptReport

KILLED_PERCENT = 1
"""From this share of killed runs on, a hook is worth a finding: a killed guard lets the tool run (FACTS 0.7)."""


def unrecorded(files: Sequence[Settings], report: "TranscriptReport") -> list[str]:
    """The command lines that are configured and that no record names, each once.

    A success that said nothing usually leaves no record: this is where to look, and proves nothing.
    """
    recorded = {cost.command for cost in report.commands}
    silent = [handler for handler in _handlers(files) if not recorded.intersection(_names(handler))]
    return list(dict.fromkeys(handler.shown for handler in silent))


def broken(files: Sequence[Settings], report: "TranscriptReport") -> Iterator[Finding]:
    """A finding for each configured hook whose records show that it did not start, or was killed at its timeout."""
    by_command = {cost.command: cost for cost in report.commands}
    seen = set()
    for handler in _handlers(files):
        cost = next((by_command[name] for name in _names(handler) if name in by_command), None)
        if cost is None or cost.command in seen:
            continue
        seen.add(cost.command)
        if cost.not_started and (cost.last_good is None or cost.last_good < cost.last):
            why = next((f.failure for f in report.failures if f.command == cost.command), "")
            yield _finding(
                handler,
                "recorded-not-started",
                "error" if cost.never_started else "warning",
                f"did not start in {cost.not_started} of its {_records(cost)}{': ' if why else ''}{why}",
                "make the program or script exist and executable, or take the hook out",
            )
        elif cost.killed * 100 >= cost.runs * KILLED_PERCENT:
            yield _finding(
                handler,
                "recorded-killed",
                "error" if cost.mostly_killed else "warning",
                f"was killed at its timeout in {cost.killed} of its {_records(cost)}: what it guards then runs",
                "make it faster, or its matcher narrower",
            )


def _handlers(files: Iterable[Settings]) -> Iterator[Handler]:
    for file in files:
        if not file.dropped:
            yield from (handler for handler in file.all_handlers if handler.starts_process)


def _names(handler: Handler) -> tuple[str, str]:
    """How a record may name the handler: with its arguments, or by its program alone."""
    return handler.shown, handler.command


def _records(cost: "CommandCost") -> str:
    return f"{cost.runs} recorded runs from {cost.first:%Y-%m-%d} to {cost.last:%Y-%m-%d}"


def _finding(handler: Handler, rule: str, severity: Severity, why: str, fix: str) -> Finding:
    return Finding(rule, severity, handler.file, handler.pointer, why, fix)
