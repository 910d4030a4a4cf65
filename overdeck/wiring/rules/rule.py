"""What a rule is, and what it finds."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from overdeck.wiring.settings import Handler, Settings

Severity = Literal["error", "warning"]


class Context(NamedTuple):
    """What every rule may look at. ``home`` is None where the reader's home is not known."""

    files: tuple[Settings, ...]
    home: Path | None = None
    user_dir: Path | None = None
    """The folder of the user's own settings: its files belong to no project."""
    path: str | None = None
    """The PATH that programs are found on; None where it is not known."""

    def handlers(self) -> Iterator[tuple[Settings, Handler]]:
        """Every handler of every file, with its file."""
        for file in self.files:
            for handler in file.all_handlers:
                yield file, handler

    def matchers(self) -> Iterator[tuple[Settings, Handler]]:
        """One handler for each matcher group, to report a matcher once."""
        seen = set()
        for file, handler in self.handlers():
            if (group := (file.path, group_of(handler))) not in seen:
                seen.add(group)
                yield file, handler


class Hit(NamedTuple):
    """One place where a rule applies, with the exact fix."""

    file: Path
    pointer: str
    why: str
    fix: str


@dataclass(frozen=True)
class Finding:
    """A hit with the rule's name and weight: what reports and ``--json`` show."""

    rule: str
    severity: Severity
    file: Path
    pointer: str
    why: str
    fix: str


@dataclass(frozen=True)
class Rule:
    """``check`` yields hits and stays silent where it cannot decide. ``source`` says how we know."""

    id: str
    severity: Severity
    source: str
    check: Callable[[Context], Iterator[Hit]]


def group_of(handler: Handler) -> str:
    """The JSON pointer of the matcher group a handler stands in."""
    head, inner, _ = handler.pointer.rpartition("/hooks/")
    return head if inner and head != "" else handler.pointer


def apply(rules: Sequence[Rule], context: Context) -> list[Finding]:
    """Every finding, errors before warnings, then in the order of the rules, the files and their lines."""
    return worst_first([Finding(rule.id, rule.severity, *hit) for rule in rules for hit in rule.check(context)])


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Errors before warnings, otherwise as they came."""
    return sorted(findings, key=lambda finding: finding.severity != "error")
