"""A payload in a file: one JSON object as a client sends it to a hook."""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.dispatch.dialects.routing import own_event
from overdeck.dispatch.matchers import CLAUDE_EVENTS
from overdeck.errors import not_found, usage
from overdeck.pipes import read_to_end


class Payload(NamedTuple):
    """A payload as it was given, what it says, and the event it names."""

    raw: bytes
    document: dict[str, Any]
    event: str


LARGEST = 64 << 20
"""Bytes. The client was seen to send 40 MB (a Write of 20 MB, whose content its PostToolUse holds twice)."""


def payload_bytes(path: Path) -> bytes:
    """What the file or the pipe ``path`` holds (``-`` is stdin).

    OSError; OverdeckError (usage) beyond LARGEST, or of a pipe without a writer.
    """
    raw = sys.stdin.buffer.read(LARGEST + 1) if str(path) == "-" else read_to_end(path, LARGEST + 1)
    if len(raw) > LARGEST:
        raise usage(
            f"the payload {path} does not end within {LARGEST >> 20} MiB, more than any client sends",
            code="payload-too-large",
            hint="give a file that holds one JSON object as the client sends it",
        )
    return raw


def read_payload(path: Path, client: str = "claude") -> Payload:
    """Read a payload file (``-`` is stdin) as ``client`` sends it; raises OverdeckError where it is missing (3) or
    names no event (2). ``event`` is Claude's name for it.
    """
    try:
        raw = payload_bytes(path)
    except OSError as error:
        raise not_found(
            f"the payload {path} cannot be read: {error.strerror}",
            code="no-payload",
            hint="give a file that holds one JSON object as the client sends it, or - for standard input",
        ) from None
    document = top_level(raw)
    named = document.get("hook_event_name")
    event = next((event for event in CLAUDE_EVENTS if named in (event, own_event(client, event))), "")
    if not named or not event or not own_event(client, event):
        raise usage(
            f"the payload {path} names no known event of {client} in hook_event_name",
            hint="give one JSON object as the client sends it, with hook_event_name and tool_name",
        )
    return Payload(raw, document, event)


def top_level(raw: bytes) -> dict[str, Any]:
    """What a payload says; nothing where it is no JSON object.

    >>> top_level(b'{"tool_name": "Bash"}')
    {'tool_name': 'Bash'}
    >>> top_level(b"[1]")
    {}
    """
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
