"""What an adopted hook said, read as Claude Code 2.1.197 reads it (contract/FACTS.md, 0 and 3), and taken apart.

The client obeys JSON whatever the exit code, takes 2 for a block, and drops a whole answer for one wrong type. An
adopted hook's texts stand bare in the merged answer: the model reads what it read before.
"""

from __future__ import annotations

from overdeck.dispatch import jsontext
from overdeck.dispatch.clients import CONTEXT_EVENTS, DECISION_EVENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

BLOCKED_BY_2 = ("PreToolUse", *DECISION_EVENTS)
"""Events that an exit code of 2 blocks."""
PLAIN_IS_CONTEXT = ("SessionStart", "UserPromptSubmit")
"""Events where text on stdout, at exit 0, reaches the model."""

NO_STDERR = "No stderr output"
NO_REASON = "no reason given"
HALTED = "stopped by a hook"

_DECISIONS = {"approve": "allow", "block": "deny"}
_TYPES = {
    "continue": bool,
    "suppressOutput": bool,
    "stopReason": str,
    "systemMessage": str,
    "reason": str,
    "decision": str,
    "hookSpecificOutput": dict,
}
_SPECIFIC_TYPES = {
    "hookEventName": str,
    "permissionDecision": str,
    "permissionDecisionReason": str,
    "additionalContext": str,
    "updatedInput": dict,
}


def read(event: str, code: int, out: bytes, err: bytes) -> tuple[dict[str, Any] | None, str]:
    """(the answer the client would obey, or None; why one was lost). ``code`` is negative for a signal."""
    text = out.decode("utf-8", "replace").removeprefix("\ufeff").strip(" \t\r\n")
    answer: dict[str, Any] | None = None
    lost = ""
    if text.startswith("{"):
        try:
            answer = _parsed(text)
            lost = wrong(event, answer)
        except ValueError as error:
            lost = f"its stdout is not one JSON object: {error}"
        if lost:
            answer = None
        elif answer is not None and answer.get("async") is True:
            # handed on, the client would not wait for anybody's answer any more
            answer, lost = None, "it asks to be async in its answer, which only its own start can be"
    elif text and event in PLAIN_IS_CONTEXT and code == 0:
        answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    if code == 2 and event in BLOCKED_BY_2 and not _refuses(event, answer):
        answer = _blocked(event, answer, err.decode("utf-8", "replace").strip())
    return answer or None, lost


def _parsed(text: str) -> dict[str, Any]:
    answer = jsontext.loads(text)
    jsontext.dumps(answer)  # NaN, which Python's scanner takes and the client's does not
    if not isinstance(answer, dict):
        raise ValueError("it is no object")
    return answer


def wrong(event: str, answer: dict[str, Any]) -> str:
    """The field that makes the client drop the whole answer; empty where there is none."""
    for key, kind in _TYPES.items():
        if key in answer and type(answer[key]) is not kind:
            return f"{key} is not a {kind.__name__}, so the client drops the whole answer"
    if answer.get("decision", "block") not in _DECISIONS:
        return f"decision is {answer['decision']!r}, so the client drops the whole answer"
    specific = answer.get("hookSpecificOutput")
    if specific is None:
        return ""
    if specific.get("hookEventName") != event:
        return "hookEventName is missing or another event's, so the client drops the whole answer"
    for key, kind in _SPECIFIC_TYPES.items():
        if key in specific and type(specific[key]) is not kind:
            return f"{key} is not a {kind.__name__}, so the client drops the whole answer"
    if event == "PreToolUse" and specific.get("permissionDecision", "ask") not in (
        "allow",
        "deny",
        "ask",
        "defer",
    ):
        return "permissionDecision is a word that the client does not know, so it drops the whole answer"
    return ""


def _refuses(event: str, answer: dict[str, Any] | None) -> bool:
    return answer is not None and any(kind == "deny" for kind, _ in parts(event, answer))


def _blocked(event: str, answer: dict[str, Any] | None, said: str) -> dict[str, Any] | None:
    """The answer of a hook that exits 2; at Stop the client takes a script that is not there for no block."""
    if event in ("Stop", "SubagentStop") and "No such file" in said:
        return answer
    beside = {key: value for key, value in (answer or {}).items() if key not in ("decision", "reason")}
    if isinstance(specific := beside.get("hookSpecificOutput"), dict):
        beside["hookSpecificOutput"] = {
            key: value for key, value in specific.items() if not key.startswith("permissionDecision")
        }
    return {**beside, "decision": "block", "reason": said or NO_STDERR}


def parts(event: str, answer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The verdicts in an answer, by the names of ``module.py``; ``halt`` ends the turn and lets the tool run."""
    specific = answer.get("hookSpecificOutput", {})
    decision = answer.get("decision", "")
    if event == "PreToolUse":
        kind = specific.get("permissionDecision") or _DECISIONS.get(decision, "")
        if kind:
            yield kind, specific.get("permissionDecisionReason") or answer.get("reason", "")
    elif event == "PermissionRequest":
        behavior = _behavior(specific)
        if behavior:
            yield behavior, specific["decision"].get("message", "") or (NO_REASON if behavior == "deny" else "")
    elif decision == "block" and event in DECISION_EVENTS:
        yield "deny", answer.get("reason", "") or NO_REASON
    if specific.get("additionalContext") and event in CONTEXT_EVENTS:
        yield "advise", specific["additionalContext"]
    if answer.get("systemMessage"):
        yield "tell", answer["systemMessage"]
    if answer.get("continue") is False:
        yield "halt", answer.get("stopReason") or HALTED


def _behavior(specific: dict[str, Any]) -> str:
    """What a PermissionRequest hook decided: allow, deny, or nothing."""
    decision = specific.get("decision")
    behavior = decision.get("behavior") if isinstance(decision, dict) else ""
    return behavior if behavior in ("allow", "deny") else ""


_TAKEN = ("continue", "stopReason", "systemMessage")
_SPECIFIC_TAKEN = (
    "hookEventName",
    "permissionDecision",
    "permissionDecisionReason",
    "additionalContext",
    "updatedInput",
)


def rest(event: str, answer: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(top-level fields, fields of hookSpecificOutput) that are no verdict of ours and are passed on as they are."""
    taken = (*_TAKEN, "decision", "reason") if event in BLOCKED_BY_2 else _TAKEN
    top = {key: value for key, value in answer.items() if key not in taken and key != "hookSpecificOutput"}
    specific = answer.get("hookSpecificOutput", {})
    return top, {key: value for key, value in specific.items() if key not in _SPECIFIC_TAKEN}


def rewritten(event: str, answers: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The tool input that wins: the last in manifest order, one that comes with an ``allow`` before one without."""
    best: tuple[bool, dict[str, Any]] | None = None
    for answer in answers if event == "PreToolUse" else ():
        specific = answer.get("hookSpecificOutput", {})
        if "updatedInput" in specific:
            allowed = specific.get("permissionDecision") == "allow"
            if best is None or allowed >= best[0]:
                best = (allowed, specific["updatedInput"])
    return None if best is None else best[1]
