"""What a Markdown text refers to, and what can be referred to in it: its links, and the names of its headings.

Reads lines, once each, without regexes; code is left out. Beside the hot path: ``doc-integrity`` imports it when a
document has changed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_LINKS = 2000
"""Of one text; the rest are not looked at."""
MAX_ANCHORS = 20_000
"""Of one text; where there are so many, more may be there."""
MAX_HEADING = 1000
"""Letters; what follows is no part of its name."""
MAX_LINE = 20_000
"""Letters of a line; a picture that is written into the text makes longer ones."""
MAX_TARGET = 1000
MAX_NESTED = 10
"""Brackets inside a target."""
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-")
_TEMPLATE = ("{{", "{%", "${", "<")
_HEX = frozenset("0123456789abcdefABCDEF")


def read(text: str) -> tuple[list[tuple[int, str, str]], list[str]]:
    """The links and the anchors of a text."""
    lines = list(_lines(text))
    return _links(lines), _anchors(lines)


def links(text: str) -> list[tuple[int, str, str]]:
    """Each reference to a file or a heading: (number of the line, path, fragment), both without their escapes.

    >>> links("See [a](b%20c.md#part), `[x](y)` and <https://example.org>.")
    [(1, 'b c.md', 'part')]
    """
    return _links(_lines(text))


def anchors(text: str) -> list[str]:
    """The names under which parts of a text can be referred to: its headings', as GitHub makes them, and explicit ones.

    >>> anchors("# What's new?\\n\\nOld\\n---\\n\\n# What's new?\\n<a id='here'></a>")
    ['whats-new', 'old', 'whats-new-1', 'here']
    """
    return _anchors(_lines(text))


def _links(lines: Iterable[tuple[int, str]]) -> list[tuple[int, str, str]]:
    found: list[tuple[int, str, str]] = []
    for number, line in lines:
        if "]" not in line:
            continue
        for target in _targets(line):
            one = _split(target)
            if one:
                found.append((number, *one))
        if len(found) >= MAX_LINKS:
            break
    return found


def _anchors(lines: Iterable[tuple[int, str]]) -> list[str]:
    found: list[str] = []
    counts: dict[str, int] = {}
    before = ""
    for _, line in lines:
        bare = line.strip()
        heading = ""
        marks = len(bare) - len(bare.lstrip("#"))
        if 1 <= marks <= 6 and bare[marks : marks + 1] in (" ", "\t", ""):
            heading = bare[marks:].strip().rstrip("#").rstrip()
        elif before and bare and bare == bare[0] * len(bare) and bare[0] in "=-":
            heading = before
        if heading:
            name = fragment(_shown(heading[:MAX_HEADING]))
            count = counts.get(name, 0)
            counts[name] = count + 1
            found.append(f"{name}-{count}" if count else name)
        for mark in ('id="', "id='", 'name="', "name='") if "<" in line else ():
            at = line.find(mark)
            while at >= 0:
                end = line.find(mark[-1], at + len(mark))
                if end > 0:
                    found.append(fragment(line[at + len(mark) : end]))
                at = line.find(mark, at + len(mark))
        before = "" if heading or not bare or bare[0] in "#>-*+|<" else bare
        if len(found) >= MAX_ANCHORS:
            break
    return found[:MAX_ANCHORS]


def fragment(heading: str) -> str:
    """A heading, or the name behind ``#``, in the one form in which both are compared: runs of ``-`` count as one."""
    kept = "".join(
        letter if letter.isalnum() or letter == "_" else "-" if letter in " -" else ""
        for letter in heading.lower()
    )
    return "-".join(part for part in kept.split("-") if part)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are no code and no comment, with their numbers; inline code is a mark in them."""
    fence = ""
    comment = False
    for number, line in enumerate(text.split("\n"), 1):
        line = line[:MAX_LINE]
        bare = line.lstrip(" \t>")
        if fence:
            fence = "" if bare.startswith(fence) else fence
            continue
        if bare.startswith(("```", "~~~")):
            fence = bare[:3]
            continue
        if comment:
            comment = "-->" not in line
            continue
        if "<!--" in line:
            head, _, rest = line.partition("<!--")
            comment = "-->" not in rest
            line = head + (rest.partition("-->")[2] if not comment else "")
        yield number, line


def _targets(line: str) -> Iterator[str]:
    """What stands in the round brackets of links and images, and behind the colon of a definition."""
    text = _without_code(line)
    bare = text.lstrip()
    if bare.startswith("[") and not bare.startswith("[^") and (at := bare.find("]:")) > 0:
        words = bare[at + 2 :].split(None, 1)
        if words:
            yield words[0].strip("<>")
        return
    at, last = text.find("]("), text.rfind(")")
    while 0 <= at < last:
        begin = at + 2
        if text[begin : begin + 1] == "<":
            end = text.find(">", begin, begin + MAX_TARGET)
            if end > 0:
                yield text[begin + 1 : end]
        else:
            end = _closing(text, begin)
            words = text[begin:end].split(None, 1) if end > begin else []
            if words:
                yield words[0]
        at = text.find("](", begin)


def _without_code(line: str) -> str:
    parts = line.split("`")
    return (
        "\0".join(part if number % 2 == 0 else "" for number, part in enumerate(parts)) if len(parts) > 2 else line
    )


def _closing(text: str, begin: int) -> int:
    """Where the bracket that was opened before ``begin`` closes; -1 where it does not within a link's length."""
    limit = begin + MAX_TARGET
    end = text.find(")", begin, limit)
    for inner in range(MAX_NESTED):
        if end < 0 or text.count("(", begin, end) == inner:
            return end
        end = text.find(")", end + 1, limit)
    return -1


def _split(target: str) -> tuple[str, str] | None:
    """Path and fragment of a target; None for what is no file here: an address, a template."""
    if not target or target.startswith("//") or any(mark in target for mark in _TEMPLATE) or "\0" in target:
        return None
    scheme, colon, _ = target.partition(":")
    if colon and scheme and all(letter in _SCHEME for letter in scheme):
        return None
    path, _, part = target.partition("#")
    return _unescaped(path.partition("?")[0]), _unescaped(part)


def _unescaped(text: str) -> str:
    """``%20`` and its kind as the letters they are, a backslash before a sign taken away."""
    pieces = text.split("%")
    raw = pieces[0].encode("utf-8", "surrogatepass")
    for piece in pieces[1:]:
        if len(piece) > 1 and piece[0] in _HEX and piece[1] in _HEX:
            raw += bytes.fromhex(piece[:2]) + piece[2:].encode("utf-8", "surrogatepass")
        else:
            raw += b"%" + piece.encode("utf-8", "surrogatepass")
    plain = raw.decode("utf-8", "replace")
    return plain.replace("\\", "") if "\\" in plain else plain


def _shown(heading: str) -> str:
    """A heading as a reader sees it: of a link its text."""
    shown = heading.replace("`", "")
    at = shown.find("](")
    while at >= 0:
        end = _closing(shown, at + 2)
        if end < 0:
            break
        shown = shown[:at] + shown[end + 1 :]
        at = shown.find("](")
    return shown.replace("[", "").replace("]", "")
