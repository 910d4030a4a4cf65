"""The findings of some files, and where each stands in a line of text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck.files import read_regular
from overdeck.paths import Places
from overdeck.wiring.jsonspans import JsonError, Node, line_of, scan_leniently
from overdeck.wiring.rules import Context, Rule
from overdeck.wiring.rules.rule import SEVERITIES, Hit, Severity, hits
from overdeck.wiring.settings import Settings


@dataclass(frozen=True)
class Spotted:
    """A hit with the file and line (from 1) that a reader should open: the script's, where it is in one."""

    rule: Rule
    hit: Hit
    file: Path
    line: int

    def as_data(self) -> dict[str, Any]:
        """The finding as an audit's, and where to open it."""
        return {
            "rule": self.rule.id,
            "severity": self.rule.severity,
            "file": str(self.hit.file),
            "pointer": self.hit.pointer,
            "why": self.hit.why,
            "fix": self.hit.fix,
            "at": {"file": str(self.file), "line": self.line},
        }


@dataclass(frozen=True)
class Linted:
    """What lint found in which files."""

    files: tuple[Settings, ...]
    spotted: tuple[Spotted, ...]

    def counts(self) -> dict[Severity, int]:
        """How many findings of each level, worst first."""
        return {level: sum(one.rule.severity == level for one in self.spotted) for level in SEVERITIES}

    def fails(self, level: Severity) -> bool:
        """Whether there is a finding of this level or a worse one."""
        worst = SEVERITIES[: SEVERITIES.index(level) + 1]
        return any(one.rule.severity in worst for one in self.spotted)

    def as_data(self) -> dict[str, Any]:
        """The result as the ``--json`` envelope holds it."""
        return {
            "files": [
                {
                    "path": str(file.path),
                    "client": file.client,
                    "scope": file.scope,
                    "handlers": len(file.all_handlers),
                    "dropped": file.dropped,
                }
                for file in self.files
            ],
            "findings": [one.as_data() for one in self.spotted],
            "counts": dict(self.counts()),
        }


def lint(files: Sequence[Settings], rules: Sequence[Rule], places: Places, *, path: str | None = None) -> Linted:
    """Judge together what a client would read together: the files of one project, or of one plugin.

    Files below the reader's own settings folder are judged on this machine: its programs (``path``), its home, what is
    installed here. All others are made for other machines, and only what they bring along can be said to be missing.
    """
    user_dir = places.claude_dir.absolute()
    groups: dict[Path, list[Settings]] = {}
    for file in files:
        groups.setdefault(_home_of(file, user_dir), []).append(file)
    found: list[tuple[Rule, Hit]] = []
    for home, group in groups.items():
        own = home == user_dir
        found += hits(
            rules,
            Context(
                tuple(group),
                places.home if own else None,
                user_dir,
                path if own else None,
                portable=not own,
                places=places if own else None,
            ),
        )
    found.sort(key=lambda one: SEVERITIES.index(one[0].severity))
    texts: dict[Path, str] = {}
    return Linted(tuple(files), tuple(_spotted(rule, hit, texts) for rule, hit in found))


def _home_of(file: Settings, user_dir: Path) -> Path:
    """The folder whose hooks run together with this file's; the file itself where nothing says."""
    path = file.path.absolute()
    if user_dir in path.parents:
        return user_dir
    if file.plugin_root is not None:
        root = file.plugin_root.absolute()
        return path if root == path.parent else root  # a hooks.json that lies about alone is no plugin
    return file.project_dir if file.project_dir != path.parent else path


def _spotted(rule: Rule, hit: Hit, texts: dict[Path, str]) -> Spotted:
    if hit.script:
        return Spotted(rule, hit, Path(hit.script), hit.line or 1)
    if hit.file not in texts:
        try:
            texts[hit.file] = read_regular(hit.file).decode("utf-8", "replace").removeprefix("\ufeff")
        except OSError:
            texts[hit.file] = ""
    return Spotted(rule, hit, hit.file, line_at(texts[hit.file], hit.pointer))


def line_at(text: str, pointer: str) -> int:
    """The line (from 1) of what a JSON pointer names, or of the nearest thing around it that is there."""
    try:
        node, _ = scan_leniently(text)
    except (JsonError, RecursionError):
        return 1
    at = node.start
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = _inside(node, name)
        if found is None:
            break
        node, at = found
    return line_of(text, at)


def _inside(node: Node, name: str) -> tuple[Node, int] | None:
    if node.kind == "object":
        named = node.named(name)
        return (named[-1].node, named[-1].start) if named else None
    if node.kind == "array" and name.isdigit() and int(name) < len(node.items):
        item = node.items[int(name)]
        return item.node, item.start
    return None
