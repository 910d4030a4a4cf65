"""What a hook blocked by exit 2 where the client leaves no attachment: a call, a prompt, the end of a turn.

Recorded of Claude Code 2.1.197 (tests/transcripts/recorded): a PreToolUse hook's exit 2 stands only in the result of
the tool call, a UserPromptSubmit hook's in a ``system`` line, a Stop or SubagentStop hook's in a message to the model;
each as ``[command]: what it wrote to stderr``. A call denied in JSON names no hook anywhere: it cannot be counted.
"""

import re
from typing import NamedTuple

MARKS = (b" hook error: [", rb" operation blocked by hook:\n[", b'"Stop hook feedback:\\n[')
"""Bytes without which a line of JSON tells of no such block."""

_CALL = re.compile(r"(PreToolUse:[^\s\[\]]{1,150}) hook error: \[")
_PROMPT = re.compile(r"(UserPromptSubmit) operation blocked by hook:\n\[")
_STOP = re.compile(r"(Stop) hook feedback:\n\[")
_PROMPT_ITSELF = "\n\nOriginal prompt: "
_SILENT = "No stderr output"


class Denial(NamedTuple):
    """A block: ``text`` is what the hook wrote to stderr, ``shown`` all that the client made of it."""

    hook: str
    command: str
    call: str
    text: str
    shown: str


def denial(document: dict[str, object]) -> Denial | None:
    """The block that a line of a transcript tells of, if any: of several hooks that block at once only the last."""
    kind = document.get("type")
    if kind == "system":
        return _prompt(document.get("content"))
    message = document.get("message")
    content = message.get("content") if kind == "user" and isinstance(message, dict) else None
    if isinstance(content, str):
        found = _STOP.match(content) if document.get("isMeta") is True else None
        hook = "SubagentStop" if document.get("isSidechain") is True else "Stop"
        return _written(hook, content, content[found.end() :], "") if found else None
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "tool_result" and part.get("is_error") is True:
            shown, call = part.get("content"), part.get("tool_use_id")
            found = _CALL.match(shown) if isinstance(shown, str) else None
            if found and isinstance(shown, str):
                command, text = _split(shown[found.end() :])
                return Denial(found[1], command, call if isinstance(call, str) else "", text, shown)
    return None


def _prompt(content: object) -> Denial | None:
    found = _PROMPT.match(content) if isinstance(content, str) else None
    if not found or not isinstance(content, str):
        return None
    told = content[found.end() :].partition(_PROMPT_ITSELF)[0]
    return _written(found[1], "", told, "")  # the person sees it, the model does not


def _written(hook: str, shown: str, told: str, call: str) -> Denial | None:
    """None for a reason given in JSON that only begins like this: what is written to stderr ends with its newline."""
    command, text = _split(told)
    return Denial(hook, command, call, text, shown) if text.endswith("\n") or text == _SILENT else None


def _split(told: str) -> tuple[str, str]:
    """The command and the text of ``command]: text``; brackets within the command are in pairs.

    >>> _split('[ -f x ]: then guard]: no')
    ('[ -f x ]: then guard', 'no')
    """
    first = at = told.find("]: ")
    while at >= 0:
        if told.count("[", 0, at) == told.count("]", 0, at):
            return told[:at], told[at + 3 :]
        at = told.find("]: ", at + 1)
    return (told[:first], told[first + 3 :]) if first >= 0 else (told, "")
