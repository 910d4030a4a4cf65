"""What a hook's answer says, whichever client it is for: decision, reason, context, and what the user is shown."""

import json
from typing import Any, NamedTuple

_DENY_CODE = 2


class Answer(NamedTuple):
    """One answer. ``decision`` is ``deny``, ``ask``, ``allow``, ``defer``, ``keep going`` or empty."""

    decision: str = ""
    reason: str = ""
    context: str = ""
    told: str = ""
    rewrites: bool = False
    unread: str = ""
    """Why the client cannot read it; empty where it can, or where nothing was said."""

    @property
    def said(self) -> str:
        """In a few words, for a table."""
        parts = [self.decision, "context" if self.context else "", "rewrite" if self.rewrites else ""]
        parts += ["message" if self.told else "", "unreadable" if self.unread else ""]
        return ", ".join(part for part in parts if part) or "nothing"

    @property
    def for_the_model(self) -> tuple[str, ...]:
        """The texts that should reach the model."""
        return tuple(text for text in (self.reason if self.decision != "allow" else "", self.context) if text)


def read_answer(event: str, code: int, stdout: str, stderr: str) -> Answer:
    """An answer from exit code and output.

    >>> read_answer("PreToolUse", 2, "", "no").decision
    'deny'
    """
    text = stdout.strip()
    document: Any = None
    if text.startswith("{"):
        try:
            document = json.loads(text)
        except ValueError as error:
            return Answer(unread=f"its stdout is not one JSON object: {error}")
    if not isinstance(document, dict):
        refused = code == _DENY_CODE
        return Answer(decision=_refusal(event) if refused else "", reason=stderr.strip() if refused else "")
    specific = document.get("hookSpecificOutput")
    specific = specific if isinstance(specific, dict) else {}
    nested = specific.get("decision")
    nested = nested if isinstance(nested, dict) else {}
    decision = _text(specific, "permissionDecision") or _text(nested, "behavior") or _text(document, "decision")
    if decision == "block" or (code == _DENY_CODE and not decision):
        decision = _refusal(event)
    reasons = (
        _text(specific, "permissionDecisionReason"),
        _text(nested, "message"),
        _text(document, "reason"),
        _text(document, "stopReason"),
    )
    return Answer(
        decision={"approve": "allow"}.get(decision, decision),
        reason=next(filter(None, reasons), ""),
        context=_text(specific, "additionalContext"),
        told=_text(document, "systemMessage"),
        rewrites=any(isinstance(specific.get(key), dict) for key in ("updatedInput", "tool_input")),
    )


def _refusal(event: str) -> str:
    return "keep going" if event in ("Stop", "SubagentStop", "AfterAgent") else "deny"


def _text(document: dict[str, Any], key: str) -> str:
    value = document.get(key)
    return value if isinstance(value, str) else ""
