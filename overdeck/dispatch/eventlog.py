"""The event log: one append-only ``events.jsonl`` of typed lines, beside whatever state a module keeps for itself.

A type is a dot-separated topic. What the client does (a tool was called, a turn ended) the front writes by itself for
the module ``events``, without Python; what a module did (a rating was taken) the module says with ``emit``. A line of
ours never holds text of a prompt, an answer or a tool: a type, who wrote it, a session, and the fields of its type.
"""

from __future__ import annotations

from overdeck.dispatch import jsontext, observing, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from overdeck.dispatch.module import Call

MAX_BYTES = 16 << 20
"""A log beyond this is renamed once, to ``events.jsonl.1``."""
MAX_VALUE = 200
"""Letters of a field's text."""
CUSTOM = "custom."
"""Types that begin so are a module author's own, with any fields."""

TOPICS = {
    "SessionStart": "session.started",
    "SessionEnd": "session.ended",
    "UserPromptSubmit": "prompt.submitted",
    "PreToolUse": "tool.called",
    "PostToolUse": "tool.done",
    "PostToolUseFailure": "tool.failed",
    "PermissionRequest": "permission.asked",
    "PermissionDenied": "permission.denied",
    "Notification": "client.noticed",
    "Stop": "turn.done",
    "StopFailure": "turn.failed",
    "SubagentStart": "agent.started",
    "SubagentStop": "agent.done",
    "PreCompact": "context.compacting",
    "PostCompact": "context.compacted",
    "TaskCreated": "task.created",
    "TaskCompleted": "task.completed",
}
"""What a client's event is called in the log."""

TYPES: dict[str, tuple[str, ...]] = {
    "document.checked": ("documents", "broken", "news"),
    "document.synced": ("done", "open"),
    "hook.error": ("event", "end"),
    "learning.captured": (),
    "notice.failed": ("about", "by"),
    "notice.sent": ("about", "by"),
    "rating.captured": ("rating", "low"),
    "session.named": (),
    "tab.updated": ("state",),
    "work.completed": ("turns",),
    "work.created": (),
}
"""What modules and the dispatcher say, and the fields of each."""


def emit(call: Call, type: str, **fields: str | int | float | bool) -> None:
    """Write one event in the name of the module that asks, where the owner keeps events; else do nothing.

    Raises ValueError for a type or a field that TYPES does not know (``custom.…`` takes any): that is a module's own
    mistake. A log that cannot be written is nobody's: it loses the line.
    """
    if not type.startswith(CUSTOM):
        if type not in TYPES:
            raise ValueError(f"{type!r} is no type of event: {', '.join(TYPES)}, or {CUSTOM}…")
        if not {*fields} <= {*TYPES[type]}:
            raise ValueError(f"{type} has the fields {', '.join(TYPES[type])}")
    if call.events:
        write(call.events, type, call.source, call.session, fields)


def write(path: str, type: str, source: str, session: str, fields: Mapping[str, str | int | float | bool]) -> None:
    """Append the line; texts are cut at MAX_VALUE, and a session that is no short name is left out."""
    short = {key: value[:MAX_VALUE] if isinstance(value, str) else value for key, value in fields.items()}
    session = session if len(session) <= MAX_VALUE else ""
    line = {"ts": record.now(), "type": type, "source": source, "session": session, **short}
    observing.append(path, (jsontext.dumps(line) + "\n").encode("utf-8", "replace"), MAX_BYTES, spooled=False)
