"""The first things to do after an audit, and the command to type next."""

import shlex
from collections.abc import Iterable
from typing import NamedTuple

from overdeck.wiring.audit.report import AuditReport
from overdeck.wiring.marker import MARKER
from overdeck.wiring.rules import Finding
from overdeck.wiring.settings import Settings


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
    heard = {hook.file for hook in hooks}
    most, file = 0, None
    for each in report.files:
        count = _adoptable(each) if str(each.path) in heard else 0
        most, file = (count, each) if count > most else (most, file)
    if file:
        which = {"user": "", "project": " --scope project", "local": " --scope local"}.get(
            file.scope, f" --settings {shlex.quote(str(file.path))}"
        )
        return f"overdeck adopt{which} --dry-run", "says which of these hooks can become modules of one process"
    if any(MARKER in (handler.args or ()) for file in report.files for handler in file.all_handlers):
        return "overdeck fires", "which of the modules ever act"
    return "overdeck install", "the dispatcher, beside your hooks"


def _adoptable(file: Settings) -> int:
    """How many of a file's hooks could become modules, as far as their text says."""
    from overdeck.wiring.adopt.candidates import candidates  # only a measured audit comes here

    if file.client != "claude" or file.plugin_root:
        return 0
    return len(candidates(file, home=file.path.parent)[0])
