"""One attachment line of a transcript: what it says of a hook, and why it is refused.

This is the definition of a good record. The client writes one for a hook that failed, blocked, was killed or said
something; a success that said nothing usually leaves none, so a count of records is no count of runs. What is kept:
command, event, times, sizes, exit code, session. Never a prompt, a tool's input, or what anything printed.
Reasons and failures quote nothing.
"""

import json
import re
from datetime import UTC, datetime
from hashlib import blake2b, md5
from typing import NamedTuple
from uuid import UUID

from overdeck.telemetry.lines import Rejected
from overdeck.telemetry.transcripts.denials import Denial, denial
from overdeck.telemetry.transcripts.failures import NO_PYTHON_SCRIPT, blocked_by_accident, failure_of

RUNS = ("ok", "blocked", "error", "killed", "cancelled", "not-started")
"""What a run can end as. ``killed``: at its timeout; ``cancelled``: by the user, or the record does not say why."""

DENIAL = "hook_denial"
"""The kind of a block that is no attachment (denials.py): a word of ours."""

NOTE = "note"
"""A record about what hooks said or decided, beside those of the runs themselves."""

_ENDS = {
    "hook_success": "ok",
    "hook_blocking_error": "blocked",
    "hook_non_blocking_error": "error",
    "hook_error_during_execution": "error",
    "hook_cancelled": "cancelled",
    "async_hook_response": "ok",
    "hook_additional_context": NOTE,
    "hook_system_message": NOTE,
    "hook_stopped_continuation": NOTE,
    "hook_permission_decision": NOTE,
    "hook_deferred_tool": NOTE,
}
KINDS = frozenset(_ENDS)
"""The attachment types that are understood."""

PLAIN_TEXT_EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact")
"""Where plain stdout reaches the model (FACTS 3)."""
CONTEXT_CAP_CHARS, CONTEXT_PREVIEW_BYTES = 10_000, 2048
"""A longer context goes to a file; the model sees its path and this much of it (FACTS 0.11)."""
LONGEST_COMMAND = 4096
"""Characters of a command line that are kept."""

_LONGEST_NAME = 200
_BIGINT = 2**63
_CANONICAL_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ROW_END, FIELD_END = "\x1e", "\x1f"
"""Characters that no text of a record holds, so that rows can be handed on as one text."""
_UNSTORABLE = re.compile("[\0\x1e\x1f\ud800-\udfff]")


class Record(NamedTuple):
    """What a record says of a hook. ``ts`` is naive UTC; ``uuid`` names the record in every copy of it.

    ``call`` is equal for the hooks of one event (a hash of event and toolUseID). ``injected`` is the bytes that the
    record shows to have reached the model. ``acted``: it blocked, decided, rewrote, or said something to anyone.
    """

    uuid: str
    ts: datetime
    session: str
    sub: bool
    kind: str
    event: str
    hook: str
    command: str | None
    call: int
    outcome: str
    acted: bool
    duration_ms: int | None
    timeout_ms: int | None
    exit_code: int | None
    stdout_bytes: int
    stderr_bytes: int
    injected_bytes: int
    failure: str | None

    @property
    def order(self) -> tuple[object, ...]:
        """A total order that asks only what the record says: the least of several copies is the one that counts."""
        return (self.session, *((value is not None, value if value is not None else 0) for value in self[1:]))


def record(line: bytes) -> Record | str | None:
    """The hook record in a line, or the type of an attachment that is none; None where the line speaks of no hook.

    Raises Rejected.
    """
    document = _object(line)
    body = document.get("attachment")
    if document.get("type") != "attachment":
        blocked = denial(document)
        return _denied(document, blocked) if blocked else None
    if not isinstance(body, dict):
        raise Rejected("attachment is not an object")
    kind = body.get("type")
    if not isinstance(kind, str):
        raise Rejected("attachment.type is not a string")
    if kind not in KINDS:
        return _storable(kind, _LONGEST_NAME)
    hook = _text(body, "hookName")
    event = _text(body, "hookEvent") or hook.partition(":")[0]
    if not event:
        raise Rejected("no hookEvent")
    moment = _time(document)
    command, blocking = _command(body)
    stdout, stderr = _long_text(body, "stdout"), _long_text(body, "stderr")
    exit_code = _whole(body, "exitCode", low=-_BIGINT)
    duration = _whole(body, "durationMs")
    outcome = _ENDS[kind]
    failure = None
    if outcome == "error" or (kind == "async_hook_response" and exit_code):
        failure, started = failure_of(stderr or _long_text(body, "content"), exit_code)
        outcome = "error" if started else "not-started"
    elif outcome == "blocked" and blocked_by_accident(blocking):
        outcome, failure = "not-started", NO_PYTHON_SCRIPT
    elif outcome == "cancelled" and body.get("timedOut") is True:
        outcome = "killed"
    answer = _answer(stdout) if outcome == "ok" else {}
    injected = _injected(kind, event, body, answer, blocking)
    call = _text(body, "toolUseID")
    stdout_bytes = _bytes(stdout)
    named = _text(document, "uuid")
    uuid = _uuid(named or f"{moment}|{kind}|{event}|{hook}|{command}|{call}|{duration}|{stdout_bytes}")
    return Record(
        uuid=uuid,
        ts=moment,
        session=_text(document, "sessionId"),
        sub=document.get("isSidechain") is True or isinstance(document.get("agentId"), str),
        kind=kind,
        event=event,
        hook=hook,
        command=command,
        call=_hash63(f"{event}\0{call or uuid}"),
        outcome=outcome,
        acted=kind == "hook_blocking_error" or injected > 0 or _acts(answer),
        duration_ms=duration,
        timeout_ms=_whole(body, "timeoutMs"),
        exit_code=exit_code,
        stdout_bytes=stdout_bytes,
        stderr_bytes=_bytes(stderr),
        injected_bytes=injected,
        failure=failure,
    )


def _denied(document: dict[str, object], blocked: Denial) -> Record:
    moment = _time(document)
    command = _storable(blocked.command, LONGEST_COMMAND) or None
    event = blocked.hook.partition(":")[0]
    uuid = _uuid(_text(document, "uuid") or f"{moment}|{blocked.hook}|{command}|{blocked.call}")
    accident = blocked_by_accident(blocked.text)
    return Record(
        uuid=uuid,
        ts=moment,
        session=_text(document, "sessionId"),
        sub=document.get("isSidechain") is True,
        kind=DENIAL,
        event=event,
        hook=_storable(blocked.hook, _LONGEST_NAME),
        command=command,
        call=_hash63(f"{event}\0{blocked.call or uuid}"),
        outcome="not-started" if accident else "blocked",
        acted=True,
        duration_ms=None,
        timeout_ms=None,
        exit_code=2,
        stdout_bytes=0,
        stderr_bytes=_bytes(blocked.text),
        injected_bytes=_bytes(blocked.shown),
        failure=NO_PYTHON_SCRIPT if accident else None,
    )


def words(line: bytes) -> str:
    """The text a record's hook failed with, for the eyes of the transcript's owner; kept nowhere. Empty if none."""
    try:
        document = _object(line)
        if blocked := denial(document):
            return blocked.text
        body = document.get("attachment")
        if not isinstance(body, dict):
            return ""
        return _long_text(body, "stderr") or _long_text(body, "content") or _command(body)[1]
    except Rejected:
        return ""


def _object(line: bytes) -> dict[str, object]:
    try:
        document = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise Rejected("not UTF-8") from None
    except RecursionError:
        raise Rejected("nested too deep") from None
    except ValueError:
        raise Rejected("not JSON") from None
    if not isinstance(document, dict):
        raise Rejected("not a JSON object")
    return document


def _command(body: dict[str, object]) -> tuple[str | None, str]:
    """The command line, and the text it blocked with."""
    blocking = body.get("blockingError")
    text, command = "", body.get("command")
    if isinstance(blocking, dict):
        command = blocking.get("command", command)
        text = _long_text(blocking, "blockingError")
    elif isinstance(blocking, str):
        text = blocking
    if command is None or command == "":
        return None, text
    if not isinstance(command, str):
        raise Rejected("command is not a string")
    return _storable(command, LONGEST_COMMAND), text


def _injected(kind: str, event: str, body: dict[str, object], answer: dict[str, object], blocking: str) -> int:
    """The bytes of text that reached the model, as far as this record shows."""
    if kind == "hook_additional_context":
        content = body.get("content")
        parts = content if isinstance(content, list) else [content]
        return sum(_capped(part) for part in parts if isinstance(part, str))
    if kind == "hook_blocking_error":
        return _bytes(blocking)
    specific = answer.get("hookSpecificOutput")
    context = specific.get("additionalContext") if isinstance(specific, dict) else None
    if isinstance(context, str):
        return _capped(context)
    if kind == "hook_success" and event in PLAIN_TEXT_EVENTS and not answer:
        return _capped(_long_text(body, "content"))
    return 0


def _answer(stdout: str) -> dict[str, object]:
    """The JSON object that the hook answered with, or none."""
    text = stdout.strip("\ufeff \t\r\n")
    if not text.startswith("{") or text == "{}":
        return {}
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _acts(answer: dict[str, object]) -> bool:
    """Whether an answer asks for anything: an empty one, or ``continue: true``, does not."""
    specific = answer.get("hookSpecificOutput")
    return bool(
        answer.get("continue") is False
        or answer.get("decision")
        or answer.get("systemMessage")
        or (isinstance(specific, dict) and any(specific[key] for key in specific if key != "hookEventName"))
    )


def _time(document: dict[str, object]) -> datetime:
    value = document.get("timestamp")
    if not isinstance(value, str) or len(value) < 16 or value[10] not in "T ":
        raise Rejected("timestamp is not a time")
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo is not None else moment
    except (ValueError, OverflowError):
        raise Rejected("timestamp is not a time") from None


def _text(body: dict[str, object], key: str) -> str:
    """A name: short, and empty where it is missing."""
    value = body.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Rejected(f"{key} is not a string")
    return _storable(value, _LONGEST_NAME)


def _long_text(body: dict[str, object], key: str) -> str:
    """A text that is measured and not kept; empty where it is missing or no text."""
    value = body.get(key)
    return value if isinstance(value, str) else ""


def _storable(text: str, longest: int) -> str:
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    return text if text.isprintable() else _UNSTORABLE.sub("\ufffd", text)


def _whole(body: dict[str, object], key: str, low: int = 0) -> int | None:
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Rejected(f"{key} is not a number")
    if not low <= value < _BIGINT:  # false for NaN as well
        raise Rejected(f"{key} is out of range")
    return round(value)


def _capped(text: str) -> int:
    return _bytes(text) if len(text) <= CONTEXT_CAP_CHARS else CONTEXT_PREVIEW_BYTES


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", errors="replace"))


def _uuid(name: str) -> str:
    if _CANONICAL_UUID.fullmatch(name):
        return name
    try:
        return str(UUID(name))
    except ValueError:
        return str(UUID(bytes=md5(name.encode("utf-8", "replace"), usedforsecurity=False).digest()))


def _hash63(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big") >> 1
