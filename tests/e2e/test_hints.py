"""A command that a hint, an error or a help text tells people to type is one that there is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commandlines import doors

import overdeck
from overdeck.process import DOORS

ROOT = Path(overdeck.__file__).resolve().parent
COMMAND = re.compile(rf"(?<![\w/.-])({'|'.join(DOORS)}) ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)*)")


def known() -> dict[str, set[tuple[str, ...]]]:
    """Door → its verbs, hidden ones included, and the groups of verbs."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for door, app in doors().items():
        pending: list[tuple[tuple[str, ...], Any]] = [((), app)]
        found[door] = set()
        while pending:
            path, command = pending.pop()
            found[door].add(path)
            pending += [((*path, name), child) for name, child in getattr(command, "commands", {}).items()]
    return found


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every string literal, an f-string as one text with … in place of what is filled in, docstrings included."""
    inside: set[ast.AST] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            inside.update(node.values)
            yield (
                node.lineno,
                "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            yield node.lineno, node.value


def mentioned(text: str) -> Iterator[tuple[str, list[str]]]:
    for match in COMMAND.finditer(text):
        yield match[1], match[2].split(" ")


def sources() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if "_shipped" not in path.parts)


VERBS = known()


def exists(door: str, words: list[str]) -> bool:
    """Whether the words begin with a verb of the door, and behind a group of verbs with one of its own."""
    verbs = VERBS[door]
    children = {path[1] for path in verbs if len(path) == 2 and path[0] == words[0]}
    return (words[0],) in verbs and (not children or len(words) == 1 or words[1] in children)


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_that_a_text_names_exists(path: Path) -> None:
    wrong = [
        f"{path.name}:{line}: {door} {' '.join(words)}"
        for line, text in texts(path)
        for door, words in mentioned(text)
        if not exists(door, words)
    ]
    assert wrong == []


def test_many_commands_are_named_and_a_wrong_one_would_be_seen() -> None:
    found = [words for path in sources() for _, text in texts(path) for _, words in mentioned(text)]
    assert len(found) > 40
    assert not exists(*next(mentioned("try: overdeck frobnicate --all")))
    assert not exists(*next(mentioned("overdeck hooks frobnicate")))
    assert exists(*next(mentioned("overdeck hooks errors; or so")))
