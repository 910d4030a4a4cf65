"""The first things to do after an audit, and the command to type next."""

from collections.abc import Iterable
from typing import NamedTuple

from overdeck.wiring.audit.hooks import HookCost
from overdeck.wiring.audit.report import AuditReport
from overdeck.wiring.rules import Finding


class Alike(NamedTuple):
    """Findings of one rule in one file: the first of them stands for all."""

    first: Finding
    times: int


def alike(findings: Iterable[Finding]) -> list[Alike]:
    """The findings, worst first, one line for each rule and file."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.rule, str(finding.file)), []).append(finding)
    return [Alike(group[0], len(group)) for group in groups.values()]


def next_command(report: AuditReport) -> tuple[str, str]:
    """What to type next, and why."""
    hooks = [hook for hook in report.hooks if hook.state == "runs"]
    if report.errors:
        return "overdeck audit --fail-on error", "when the errors above are mended: it exits 1 while one is left"
    if not hooks:
        return (
            "overdeck demo",
            "nothing runs, so nothing costs: this shows what there is to gain, on bundled hooks",
        )
    if not any(hook.source == "measured" for hook in hooks):
        return "overdeck audit --measure", "lists what it would run, then measures it instead of guessing"
    if any(_adoptable(hook) for hook in hooks):
        return "overdeck adopt --dry-run", "which of your own hooks can become modules of one process"
    return "overdeck fires", "which of the modules ever act"


def _adoptable(hook: HookCost) -> bool:
    """Whether it is a hook of the user's own settings that the dispatcher might take over."""
    own = hook.client == "claude" and hook.type == "command" and not hook.plugin
    return own and "--by-overdeck" not in hook.command.split()
