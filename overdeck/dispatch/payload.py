"""The payload of one call: bounded stdin, one JSON object, and the prefilter that reads its raw text."""

from __future__ import annotations

import posix

from overdeck.dispatch import jsontext, stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_BYTES = 64 << 20

EMPTY = "the payload is empty"
OVER = f"the payload is over {MAX_BYTES >> 20} MiB"
BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


class Payload:
    """What the client sent. ``problem`` is empty when it is one whole JSON object, else says what it is not."""

    __slots__ = ("_searched", "problem", "size", "spans", "text", "top")

    def __init__(self, raw: bytes, cut: str = "") -> None:
        self.size = len(raw)
        self.text = ""
        self.top: dict[str, Any] = {}
        self.spans: dict[str, tuple[int, int]] = {}
        self.problem = self._parse(raw)
        self.was_cut(cut)
        self._searched: dict[bool, Searched] = {}

    def was_cut(self, why: str) -> None:
        """Say ``why`` nothing more was read, where that explains a document that is not whole."""
        if why and self.problem not in ("", EMPTY, OVER):
            self.problem = f"the payload was cut: {why}"

    def _parse(self, raw: bytes) -> str:
        if len(raw) > MAX_BYTES:
            return OVER
        if raw.startswith(_BOM):
            raw = raw[len(_BOM) :]
        if not raw.strip(BLANK):
            return EMPTY
        try:
            self.text = raw.decode("utf-8")
            self.top, self.spans = jsontext.loads_object(self.text)
        except UnicodeDecodeError as error:
            return f"the payload is not UTF-8 (byte {error.start})"
        except ValueError as error:
            return f"the payload is not one JSON object ({error})"
        return ""

    def searched(self, whole: bool) -> Searched:
        """The text a literal is looked for in: the raw top-level ``tool_input``, or the whole payload."""
        if whole not in self._searched:
            start, end = (0, len(self.text)) if whole else self.spans.get("tool_input", (0, 0))
            self._searched[whole] = Searched(self.text[start:end])
        return self._searched[whole]


class Searched:
    """Raw JSON text as literals are looked for in it: quotes and backslashes taken out, as a shell joins words."""

    __slots__ = ("bare", "hides")

    def __init__(self, text: str) -> None:
        # Anything that can spell a letter another way skips nothing: a prefilter may only skip what the module
        # would also have allowed. (A backslash before a line end is \\\n in JSON.)
        self.hides = (
            "\\u00" in text
            or "\\/" in text
            or "$'" in text
            or '$\\"' in text
            or "\\\\\\n" in text
            or "\\\\\\r" in text
        )
        self.bare = "" if self.hides else text.replace("'", "").replace('"', "").replace("\\", "")

    def may_contain(self, literals: list[str]) -> bool:
        """Whether any literal may occur."""
        return self.hides or any(literal in self.bare for literal in literals)


def _whole(fd: int, size: int) -> bytes:
    raw = posix.read(fd, size)
    while len(raw) < size and (more := posix.read(fd, size - len(raw))):
        raw += more
    return raw


def receive(fd: int = 0) -> Payload:
    """Read one document from ``fd``: a file whole (the native front's memfd), anything else as ``stdin`` says."""
    try:
        size = posix.fstat(fd).st_size
        if size:
            return Payload(_whole(fd, min(size, MAX_BYTES + 1)))
    except OSError:
        return Payload(b"")
    return stdin.document(fd)
