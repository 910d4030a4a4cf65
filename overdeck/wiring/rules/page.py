"""The page of a rule: why it matters, what to do, and two fixtures, one that breaks it and one that does not.

A page is a Markdown file in ``pages/``, shown by ``overdeck lint --explain``, collected into docs/lint-rules.md, and
run by the tests. Its fixtures are the fenced blocks under ``## Breaks`` and ``## Passes``; behind the language of each
stands the path of the file, and then words: ``mode=644`` (a file with a ``#!`` line is executable otherwise),
``crlf``, ``bom``.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from overdeck.wiring.rules.rule import Rule

_PAGES = Path(__file__).parent / "pages"
_FENCE = re.compile(r"^```(\w+) (\S+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class FixtureFile(NamedTuple):
    """One file of a fixture, by its path below the fixture's folder."""

    path: str
    content: bytes
    mode: int


class Page(NamedTuple):
    """``text`` is the whole page below its heading, fixtures included."""

    text: str
    breaks: tuple[FixtureFile, ...]
    passes: tuple[FixtureFile, ...]


def page_of(rule: Rule) -> Page:
    """The page that ships with a rule."""
    text = (_PAGES / f"{rule.id}.md").read_text("utf-8").strip() + "\n"
    _, _, fixtures = text.partition("\n## Breaks\n")
    breaks, _, passes = fixtures.partition("\n## Passes\n")
    return Page(text, tuple(_files(breaks)), tuple(_files(passes)))


def _files(text: str) -> Sequence[FixtureFile]:
    return [_file(found[2], found[3].split(), found[4]) for found in _FENCE.finditer(text)]


def _file(path: str, words: list[str], text: str) -> FixtureFile:
    mode = next((int(word[5:], 8) for word in words if word.startswith("mode=")), 0)
    content = text.replace("\n", "\r\n") if "crlf" in words else text
    raw = b"\xef\xbb\xbf" * ("bom" in words) + content.encode()
    return FixtureFile(path, raw, mode or (0o755 if text.startswith("#!") else 0o644))


def write(files: Sequence[FixtureFile], folder: Path) -> None:
    """Put a fixture's files below a folder."""
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(file.mode)


def explained(rule: Rule) -> str:
    """The whole page as ``--explain`` prints it and docs/lint-rules.md holds it."""
    head = (
        f"# {rule.id}\n\n{rule.severity} · {', '.join(rule.clients)} · {rule.versions}  \nSource: "
        f"{rule.source}.\n\n"
    )
    return head + page_of(rule).text


def handbook(rules: Sequence[Rule]) -> str:
    """docs/lint-rules.md: every rule's page, behind a table of them."""
    lines = [
        "# Lint rules",
        "",
        "Made from `overdeck/wiring/rules/pages/` and checked by a test; write it anew with",
        "`overdeck lint --explain all > docs/lint-rules.md`. FACTS: what was measured with the real clients.",
        "",
        "| rule | level | clients |",
        "|---|---|---|",
    ]
    lines += [f"| [{rule.id}](#{rule.id}) | {rule.severity} | {', '.join(rule.clients)} |" for rule in rules]
    pages = [re.sub(r"^(#+) ", r"#\1 ", explained(rule), flags=re.MULTILINE) for rule in rules]
    return "\n".join(lines) + "\n\n" + "\n".join(pages)
