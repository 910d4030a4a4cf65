"""What a session did, in one line: counted from the native journal of the pack ``evidence``, with no model.

Beside the hot path: memory-recall imports it, once a session.
"""

from __future__ import annotations

import posix

from overdeck.dispatch import jsontext
from overdeck.dispatch.kit.asking import WORK
from overdeck.dispatch.plan import slurp

JOURNAL = "modules/journal/journal.jsonl"
MAX_BYTES = 2 << 20
"""Of the journal's end, some 15,000 lines: the session before is near it, and a start should not wait for more."""
_RAN = (b"PostToolUse", b"PostToolUseFailure")


def sentence(state: str, session: str) -> str:
    """Prompts, tool calls, edits and the last moment of ``session``; empty where the journal has none of it.

    ``state`` is the state directory of overdeck.
    """
    prompts = calls = edits = 0
    last = b""
    lines, whole = _lines(state, session) if session else ([], True)
    for line in lines:
        event = _text(line, b"event")
        prompts += event == b"UserPromptSubmit"
        calls += event in _RAN
        edits += event in _RAN and _text(line, b"tool").decode("ascii", "replace") in WORK
        last = max(last, _text(line, b"ts")[:16])
    if not prompts and not calls:
        return ""
    least = "" if whole else "at least "
    counts = f"{least}prompts {prompts}, tool calls {calls} (edits {edits})"
    return f"The session before this one here, until {last.decode('ascii', 'replace')} UTC: {counts}."


def _lines(state: str, session: str) -> tuple[list[bytes], bool]:
    """The whole lines of this session at the end of the journal, and whether that is all of it."""
    try:
        fd = posix.open(
            f"{state}/{JOURNAL}", posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
        )
    except OSError:
        return [], True
    try:
        begin = max(0, posix.fstat(fd).st_size - MAX_BYTES)
        posix.lseek(fd, begin, 0)
        raw = slurp(fd)
    except OSError:
        return [], True
    finally:
        posix.close(fd)
    needle = f'"session":{jsontext.dumps(session)}'.encode()
    found = [line for line in raw.split(b"\n") if needle in line and line[:1] == b"{" and line[-1:] == b"}"]
    return found, begin == 0


def _text(line: bytes, key: bytes) -> bytes:
    """The string under ``key``, as it stands there: a quote inside a string has a backslash before it, so the first hit
    is the key. Nothing is parsed: a session may have thousands of lines, and its successor waits for them.
    """
    at = line.find(b'"' + key + b'":"')
    return line[at + len(key) + 4 : line.find(b'"', at + len(key) + 4)] if at >= 0 else b""
