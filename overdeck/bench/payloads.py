"""Payloads of a chosen size for one event and tool, in the recorded shape, the text where the client puts it."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from overdeck.dispatch.clients import TOOL_EVENTS
from overdeck.dispatch.matchers import CLAUDE_EVENTS
from overdeck.errors import OverdeckError, usage
from overdeck.payloadfile import LARGEST
from overdeck.wiring.payloads import payload_for

SMALLEST = 200
"""Bytes."""

Place = tuple[str | int, ...]
"""The keys and indices that lead to one string of a payload."""

_INPUT: dict[str, str] = {
    "Bash": "command",
    "Write": "content",
    "Edit": "new_string",
    "NotebookEdit": "new_source",
    "Agent": "prompt",
    "WebFetch": "prompt",
}
_RESPONSE: dict[str, tuple[Place, ...]] = {
    "Bash": (("tool_response", "stdout"),),
    "Read": (("tool_response", "file", "content"),),
    "Edit": (("tool_response", "originalFile"),),
    "Write": (("tool_input", "content"), ("tool_response", "content")),
}
_EVENTS: dict[str, Place] = {
    "UserPromptSubmit": ("prompt",),
    "PostToolUseFailure": ("error",),
    "PostToolBatch": ("tool_calls", 0, "tool_response"),
    "Stop": ("last_assistant_message",),
    "SubagentStop": ("last_assistant_message",),
    "PreCompact": ("custom_instructions",),
    "Notification": ("message",),
}
_MCP = "mcp__"

_WRAPPED: dict[Place, tuple[str, str]] = {("tool_input", "command"): ("cat >notes.md <<'END'\n", "\nEND")}
"""What stands around the text where it would not be right by itself: a long shell command is a here-document."""

_SPARE = ("effort", "prompt_id", "permission_mode", "tool_use_id", "session_crons", "background_tasks")
"""What goes, in this order, where a payload has to be smaller than the recorded ones."""

_UNITS = {"": 1, "b": 1, "k": 10**3, "kb": 10**3, "m": 10**6, "mb": 10**6, "kib": 1 << 10, "mib": 1 << 20}

_TEXT = (
    'def label(name, width=12):\n    """Pad a name; ``width`` counts columns."""\n'
    '    return f"{name:<{width}}\\t|" if name != "\\\\" else \'"\'\n\n'
    "# größer, naïve, 表 and → are one column or two, says the table\n"
    'ROWS = [{"id": 1, "path": "src\\\\a.txt"}, {"id": 2, "path": "src/b.txt"}]\n'
)
"""Text as files have it: quotes, backslashes, tabs, line ends, letters beyond ASCII; nothing a guard looks for."""


def generate(event: str, tool: str = "", size: int | None = None) -> bytes:
    """What the client would write to a hook's stdin: one line of JSON, raw UTF-8, with a line end.

    ``tool`` is the tool's name, for a SessionStart its source. ``size`` in bytes is met exactly; None gives the
    recorded shape with its small content. Raises OverdeckError (usage) for an unknown event, for a size outside
    SMALLEST to LARGEST or below what the shape needs, and where no part of such a payload ever grows.

    >>> len(generate("PreToolUse", "Write", 5000))
    5000
    """
    if event not in CLAUDE_EVENTS:
        raise usage(f"there is no event {event!r}", hint="--event PreToolUse, for one", code="no-such-event")
    if event in TOOL_EVENTS and not tool:
        raise usage(f"a {event} payload is of a tool, and none is named", hint=f"--event {event} --tool Bash")
    payload = _shape(event, tool)
    if size is None:
        return _encoded(payload)
    if not SMALLEST <= size <= LARGEST:
        raise usage(
            f"a payload of {size} bytes cannot be made: {SMALLEST} bytes to 64 MiB can",
            hint="--payload-size 1.5MB",
        )
    places = _places(event, tool)
    if not places:
        raise usage(
            f"no part of a {event} payload{f' of {tool}' if tool else ''} ever grows: the client sends it small",
            hint="--event PreToolUse --tool Write, or leave out --payload-size",
        )
    for place in places:
        _put(payload, place, "")
    room = _room(payload, size, f"{event} {tool}".strip())
    each, odd = divmod(room, len(places))
    payload["transcript_path"] += "l" * odd
    for place in places:
        _put(payload, place, _text(each))
    return _encoded(payload)


def parse_size(text: str) -> int:
    """Bytes, from what a person types; ``k`` and ``MB`` are decimal. Raises OverdeckError (usage).

    >>> parse_size("200"), parse_size("200k"), parse_size("1.5MB"), parse_size("64 MiB")
    (200, 200000, 1500000, 67108864)
    """
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,12})?)\s*([a-z]*)\s*", text, re.IGNORECASE | re.ASCII)
    unit = _UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise usage(f"{text!r} is not a size", hint="--payload-size 200, 64k, 1.5MB or 4MiB")
    return round(float(match[1]) * unit)


def _shape(event: str, tool: str) -> dict[str, Any]:
    payload = payload_for(event, tool, cwd="/home/dev/proj", transcript="/home/dev/.claude/projects/p/s.jsonl")
    if tool.startswith(_MCP) and event in TOOL_EVENTS:
        payload["tool_input"] = {"text": "hi"}
        if event == "PostToolUse":
            payload["tool_response"] = [{"type": "text", "text": "hi"}]
    if event == "PostToolBatch":
        call = payload_for("PostToolUse", tool or "Bash", cwd="/home/dev/proj", transcript="")
        kept = {key: call[key] for key in ("tool_name", "tool_input", "tool_use_id")}
        payload["tool_calls"] = [{**kept, "tool_response": "hi"}]
    return payload


def _places(event: str, tool: str) -> Sequence[Place]:
    """Where the text of a large payload is; several places hold the same text."""
    if event in _EVENTS:
        return (_EVENTS[event],)
    if event == "PostToolUse":
        return (("tool_response", 0, "text"),) if tool.startswith(_MCP) else _RESPONSE.get(tool, ())
    if event in TOOL_EVENTS:
        key = "text" if tool.startswith(_MCP) else _INPUT.get(tool)
        return (("tool_input", key),) if key else ()
    return ()


def _room(payload: dict[str, Any], size: int, what: str) -> int:
    """How many bytes of text make it ``size``; takes spare keys out of ``payload`` where it is too large already."""
    for _ in _slimmer(payload):
        room = size - len(_encoded(payload))
        if room >= 0:
            return room
    raise _too_small(what, size, len(_encoded(payload)))


def _slimmer(payload: dict[str, Any]) -> Iterator[None]:
    """As it is; then without one spare key more each time; then with short paths."""
    yield
    for key in _SPARE:
        if key in payload:
            del payload[key]
            yield
    payload |= {"cwd": "/p", "transcript_path": "/p/s", "session_id": "s"}
    if isinstance(payload.get("tool_input"), dict):
        payload["tool_input"].pop("description", None)
    yield


def _too_small(what: str, size: int, least: int) -> OverdeckError:
    return usage(f"{size} bytes cannot hold a {what} payload, which takes {least}", hint=f"--payload-size {least}")


def _put(payload: Any, place: Place, text: str) -> None:
    value = payload
    for key in place[:-1]:
        value = value[key]
    before, after = _WRAPPED.get(place, ("", ""))
    value[place[-1]] = before + text + after


def _text(size: int) -> str:
    """Text that takes exactly ``size`` bytes inside a JSON string."""
    block = len(_encoded(_TEXT)) - len(_encoded(""))
    return _TEXT * (size // block) + "".join("lorem ipsum "[i % 12] for i in range(size % block))


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
