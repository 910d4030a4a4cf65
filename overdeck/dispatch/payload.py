"""The payload of one call: bounded stdin, one JSON object, and the prefilter that reads its raw text."""

from __future__ import annotations

import posix
import select
import time

from overdeck.dispatch import jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

IDLE_S = 2.0
TOTAL_S = 5.0
MAX_BYTES = 64 << 20

EMPTY = "the payload is empty"
_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


class Payload:
    """What the client sent. ``problem`` is empty when it is one whole JSON object, else says what it is not."""

    __slots__ = ("problem", "size", "spans", "text", "top")

    def __init__(self, raw: bytes, problem: str = "") -> None:
        self.size = len(raw)
        self.text = ""
        self.top: dict[str, Any] = {}
        self.spans: dict[str, tuple[int, int]] = {}
        self.problem = problem
        if not problem:
            self._parse(raw)

    def _parse(self, raw: bytes) -> None:
        if raw.startswith(_BOM):
            raw = raw[len(_BOM) :]
        if not raw.strip(_BLANK):
            self.problem = EMPTY
            return
        try:
            self.text = raw.decode("utf-8")
            self.top, self.spans = jsontext.loads_object(self.text)
        except UnicodeDecodeError as error:
            self.problem = f"the payload is not UTF-8 (byte {error.start})"
        except ValueError as error:
            self.problem = f"the payload is not one JSON object ({error})"

    @property
    def tool_input_text(self) -> str:
        """The raw text of the top-level ``tool_input`` value; empty where there is none."""
        start, end = self.spans.get("tool_input", (0, 0))
        return self.text[start:end]


def read(fd: int = 0) -> tuple[bytes, str]:
    """Read one document from ``fd``: (bytes, problem). Ends at depth 0, EOF, 2 s idle, 5 s in all, or 64 MiB.

    The client may keep stdin open for ever; a document whose braces are closed is complete, so nothing waits
    for an EOF.
    """
    depth = _Depth()
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    end = time.monotonic() + TOTAL_S
    while True:
        left = end - time.monotonic()
        wait = 0.0 if depth.closed else min(IDLE_S, left)
        if left <= 0 and not depth.closed:
            return _cut(depth.buffer, f"it was not complete within {TOTAL_S:g} s")
        if not poll.poll(max(0, int(wait * 1000))):
            if depth.closed:
                return bytes(depth.buffer), ""
            return _cut(depth.buffer, f"nothing more came for {IDLE_S:g} s")
        try:
            chunk = posix.read(fd, 1 << 20)
        except BlockingIOError:
            continue
        except OSError:
            return bytes(depth.buffer), "" if depth.buffer.strip(_BLANK) else EMPTY
        if not chunk:
            return bytes(depth.buffer), ""
        depth.feed(chunk)
        if len(depth.buffer) > MAX_BYTES:
            return bytes(depth.buffer), f"the payload is over {MAX_BYTES >> 20} MiB"


def _cut(buffer: bytearray, why: str) -> tuple[bytes, str]:
    return bytes(buffer), f"the payload was cut: {why}" if buffer.strip(_BLANK) else EMPTY


class _Depth:
    """Counts braces and brackets outside strings as bytes arrive; ``closed`` once they are balanced again."""

    __slots__ = ("at", "buffer", "closed", "depth", "in_string", "start")

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.at = 0
        self.depth = 0
        self.in_string = False
        self.start = 0
        self.closed = False

    def feed(self, chunk: bytes) -> None:
        buffer = self.buffer
        buffer += chunk
        at = self.at
        while at < len(buffer):
            quote = buffer.find(b'"', at)
            if self.in_string:
                if quote < 0:
                    break
                at = quote + 1
                slash = quote - 1
                while slash >= self.start and buffer[slash] == 0x5C:
                    slash -= 1
                self.in_string = (quote - slash) % 2 == 0
                continue
            piece = buffer[at : len(buffer) if quote < 0 else quote]
            self.depth += piece.count(b"{") + piece.count(b"[") - piece.count(b"}") - piece.count(b"]")
            opened = b"{" in piece or b"[" in piece or b"}" in piece or b"]" in piece
            if opened:
                self.closed = self.depth <= 0
            if quote < 0:
                at = len(buffer)
            else:
                at = self.start = quote + 1
                self.in_string = True
                self.closed = False
        self.at = max(at, self.start) if not self.in_string else at


def may_contain(text: str, literals: list[str]) -> bool:
    """Whether any literal may occur in this raw JSON text, quotes and backslashes taken out as a shell does.

    Anything that can spell a letter another way (``\\u00XX``, ``\\/``, ``$'…'``, a backslash before a line
    end) makes the answer yes: a prefilter may only skip what the module would also have allowed.
    """
    if "\\u00" in text or "\\/" in text or "$'" in text or "\\\\\\n" in text or "\\\\\\r" in text:
        return True
    if any(literal in text for literal in literals):
        return True
    if "'" not in text and "\\" not in text and text.count('"') <= 2:
        return False
    bare = text.replace("'", "").replace('"', "").replace("\\", "")
    return any(literal in bare for literal in literals)
