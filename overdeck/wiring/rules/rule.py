"""What a rule is, and what it finds."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from overdeck.wiring.commandline import simple_words
from overdeck.wiring.inner import chain
from overdeck.wiring.rules.code import Code, codes_of, known_variables
from overdeck.wiring.settings import Handler, Settings

if TYPE_CHECKING:
    from overdeck.paths import Places

Severity = Literal["error", "warning", "info"]
"""``info`` is advice: only ``overdeck lint`` gives it, never an audit."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Worst first."""

DOCS = "the client's hooks reference (code.claude.com/docs/en/hooks)"
"""The public document that rules name as their source, where nobody measured."""

_Key = tuple[Path, str]


@dataclass(frozen=True)
class Context:
    """What every rule may look at. ``home`` is None where the reader's home is not known."""

    files: tuple[Settings, ...]
    home: Path | None = None
    user_dir: Path | None = None
    """The folder of the user's own settings: its files belong to no project."""
    path: str | None = None
    """The PATH that programs are found on; None where it is not known."""
    portable: bool = False
    """The files are made for other machines: what is missing outside their own folders is no fault of theirs."""
    places: "Places | None" = None
    """This user's places, to hold our own entries against what would be installed now; None where nobody asks."""
    _codes: dict[_Key, tuple[Code, ...]] = field(default_factory=dict, repr=False)
    _read: dict[Path, Code | None] = field(default_factory=dict, repr=False)
    _known: dict[tuple[Path, Path | None, str], dict[str, str]] = field(default_factory=dict, repr=False)
    _hops: dict[_Key, tuple[tuple[str, ...], ...]] = field(default_factory=dict, repr=False)

    def handlers(self, *clients: str) -> Iterator[tuple[Settings, Handler]]:
        """Every handler of every file of these clients (default: Claude Code), with its file."""
        for file in self.files:
            if file.client in (clients or ("claude",)):
                for handler in file.all_handlers:
                    yield file, handler

    def matchers(self, *clients: str) -> Iterator[tuple[Settings, Handler]]:
        """One handler for each matcher group, to report a matcher once."""
        seen = set()
        for file, handler in self.handlers(*clients):
            if (group := (file.path, group_of(handler))) not in seen:
                seen.add(group)
                yield file, handler

    def known(self, file: Settings) -> dict[str, str]:
        """The placeholders whose value is certain for this file's handlers."""
        key = (file.path, file.plugin_root, file.client)
        if key not in self._known:
            self._known[key] = known_variables(file, None if self.portable else self.home, self.user_dir)
        return self._known[key]

    def words(self, file: Settings, handler: Handler) -> tuple[str, ...]:
        """The argv of a handler; empty where its text does not decide it."""
        return self.hops(file, handler)[0] if self.hops(file, handler) else ()

    def hops(self, file: Settings, handler: Handler) -> tuple[tuple[str, ...], ...]:
        """The argv of a handler and of what that starts in its turn; none where its text does not decide it."""
        key = (file.path, handler.pointer)
        if key not in self._hops:
            words = simple_words(handler, self.known(file)) if handler.starts_process else []
            self._hops[key] = chain(words, self.known(file)).hops if words else ()
        return self._hops[key]

    def codes(self, file: Settings, handler: Handler) -> tuple[Code, ...]:
        """The shell line of a handler and the script it names, as far as they can be read; each file once."""
        key = (file.path, handler.pointer)
        if key not in self._codes:
            self._codes[key] = tuple(codes_of(handler, self.known(file), file, self._read))
        return self._codes[key]

    def each_code(self, *clients: str, says: tuple[str, ...] = ()) -> Iterator[tuple[Settings, Handler, Code]]:
        """Every handler with each piece of its code.

        ``says`` are words of which the text must hold one for a rule to find anything in it: most scripts are passed
        over by that, and never parsed, which is what an audit would spend its time on.
        """
        for file, handler in self.handlers(*clients):
            for code in self.codes(file, handler):
                if not says or code.mentions(*says):
                    yield file, handler, code


class Hit(NamedTuple):
    """One place where a rule applies, with the exact fix. ``script`` and ``line`` (from 1) where it is in
    a script."""

    file: Path
    pointer: str
    why: str
    fix: str
    script: str = ""
    line: int = 0


def in_script(file: Settings, handler: Handler, code: Code, line: int, why: str, fix: str) -> Hit:
    """The hit at a line of what a handler runs; ``why`` goes on after the line's place."""
    return Hit(file.path, handler.pointer + "/command", f"{code.at(line)} {why}", fix, *code.spot(line))


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
    """``check`` yields hits and stays silent where it cannot decide. ``source`` says how we know.

    ``clients`` are those whose files it is for; ``versions`` the ones it was measured or read for.
    """

    id: str
    severity: Severity
    source: str
    check: Callable[[Context], Iterator[Hit]]
    clients: tuple[str, ...] = ("claude",)
    versions: str = "Claude Code 2.1.197"


def group_of(handler: Handler) -> str:
    """The JSON pointer of the matcher group a handler stands in."""
    head, inner, _ = handler.pointer.rpartition("/hooks/")
    return head if inner and head != "" else handler.pointer


def raw_at(file: Settings, pointer: str) -> Any:
    """What stands in the file at a JSON pointer, as written; None where nothing does."""
    place: Any = file.data
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict):
            place = place.get(name)
        elif isinstance(place, list) and name.isdigit() and int(name) < len(place):
            place = place[int(name)]
        else:
            return None
    return place


def apply(rules: Sequence[Rule], context: Context) -> list[Finding]:
    """Every finding, errors before warnings, then in the order of the rules, the files and their lines."""
    return worst_first(
        Finding(rule.id, rule.severity, hit.file, hit.pointer, hit.why, hit.fix)
        for rule, hit in hits(rules, context)
    )


def hits(rules: Sequence[Rule], context: Context) -> Iterator[tuple[Rule, Hit]]:
    """Every hit with its rule, in the order of the rules. A rule for other clients' files is not asked."""
    present = {file.client for file in context.files}
    for rule in rules:
        if present.intersection(rule.clients):
            for hit in rule.check(context):
                yield rule, hit


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Errors before warnings before advice, otherwise as they came."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
