"""JSON read with the place of every value, so that a settings file can be changed by splicing its text.

``json.loads`` says what a document holds, not where. Editing a client's settings without touching a byte of
what is not ours needs the spans; telling a user which comment makes the client drop the file needs them too.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # public in CPython, absent from typeshed
from typing import Any, Literal

_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None}
_LONGEST_INT = 4000
"""Digits that ``int()`` still takes (its limit is 4,300); beyond, a float says as much as JavaScript would."""

_MOST_FLAWS = 1000
"""Flaws that are told of one document; a text of nothing but comments holds a million."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class JsonError(ValueError):
    """The text is not JSON; ``at`` is the character where that became certain."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True)
class Node:
    """One value and where it stands: ``text[start:end]``."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    value: Any
    items: tuple["Item", ...] = ()

    def named(self, key: str) -> list["Item"]:
        """The members of an object called ``key``: more than one where the key is repeated."""
        return [item for item in self.items if item.key == key]


@dataclass(frozen=True, slots=True)
class Item:
    """An element of an array (``key`` None) or a member of an object; ``start`` is where its key begins."""

    key: str | None
    start: int
    node: Node

    @property
    def end(self) -> int:
        return self.node.end


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something strict JSON forbids and a lenient reader can step over."""

    reason: str
    pointer: str
    line: int


@dataclass
class _Scanner:
    text: str
    lenient: bool
    flaws: list[Flaw] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    """Where the lines end: found when the first flaw asks for its line."""

    def document(self) -> Node:
        node, at = self.value(self.blank(0))
        at = self.blank(at)
        if at != len(self.text):
            raise JsonError("text after the end of the document", at)
        return node

    def blank(self, at: int) -> int:
        at = _blank_end(self.text, at)
        while self.lenient and (comment := _COMMENT.match(self.text, at)):
            self.flaw("a comment", at)
            at = _blank_end(self.text, comment.end())
        return at

    def flaw(self, reason: str, at: int) -> None:
        if len(self.flaws) < _MOST_FLAWS:
            if not self.flaws:
                self.breaks = [found.start() for found in re.finditer("\n", self.text)]
            self.flaws.append(Flaw(reason, pointer(self.path), bisect_left(self.breaks, at) + 1))

    def value(self, at: int) -> tuple[Node, int]:
        letter = self.text[at : at + 1]
        if letter == "{":
            return self.container(at, "object", "}")
        if letter == "[":
            return self.container(at, "array", "]")
        if letter == '"':
            value, end = self.string(at)
            return Node("scalar", at, end, value), end
        if number := _NUMBER.match(self.text, at):
            return Node("scalar", at, number.end(), _number(number)), number.end()
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, at):
                return Node("scalar", at, at + len(word), meaning), at + len(word)
        raise JsonError("a value was expected", at)

    def string(self, at: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self.text, at + 1, True)
        except ValueError as error:
            raise JsonError("a broken string", getattr(error, "pos", at)) from None
        return str(value), int(end)

    def container(self, start: int, kind: Literal["object", "array"], close: str) -> tuple[Node, int]:
        items: list[Item] = []
        at = self.blank(start + 1)
        while self.text[at : at + 1] != close:
            key: str | None = None
            begin = at
            if kind == "object":
                if self.text[at : at + 1] != '"':
                    raise JsonError("a key in double quotes was expected", at)
                key, at = self.string(at)
                at = self.blank(at)
                if self.text[at : at + 1] != ":":
                    raise JsonError("':' was expected", at)
                at = self.blank(at + 1)
            self.path.append(str(len(items)) if key is None else key)
            node, at = self.value(at)
            self.path.pop()
            items.append(Item(key, begin, node))
            at = self.blank(at)
            if self.text[at : at + 1] == close:
                break
            if self.text[at : at + 1] != ",":
                raise JsonError(f"',' or '{close}' was expected", at)
            comma = at
            at = self.blank(at + 1)
            if self.text[at : at + 1] == close:
                if not self.lenient:
                    raise JsonError("a trailing comma", comma)
                self.flaw("a trailing comma", comma)
        value = (
            {item.key: item.node.value for item in items}
            if kind == "object"
            else [item.node.value for item in items]
        )
        return Node(kind, start, at + 1, value, tuple(items)), at + 1


def scan(text: str) -> Node:
    """Read strict JSON with spans. Raises JsonError. A BOM is not JSON: strip it first."""
    return _document(_Scanner(text, lenient=False))


def scan_leniently(text: str) -> tuple[Node, list[Flaw]]:
    """Read JSON that may hold comments and trailing commas, and say where they are. Raises JsonError."""
    scanner = _Scanner(text, lenient=True)
    return _document(scanner), scanner.flaws


def pointer(parts: Iterable[str]) -> str:
    """An RFC 6901 JSON pointer.

    >>> pointer(["hooks", "a/b", "0"])
    '/hooks/a~1b/0'
    """
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def line_of(text: str, at: int) -> int:
    """The line number, from 1, of the character ``at``."""
    return text.count("\n", 0, at) + 1


def _document(scanner: _Scanner) -> Node:
    try:
        return scanner.document()
    except RecursionError:
        raise JsonError("nested too deep", 0) from None


def _number(found: re.Match[str]) -> int | float:
    whole = found.group(1) is None and found.group(2) is None and len(found.group()) <= _LONGEST_INT
    return int(found.group()) if whole else float(found.group())


def _blank_end(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at
