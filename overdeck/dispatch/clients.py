"""What an answer looks like, per client and event, and what an event's matcher is held against.

Claude Code 2.1.197, measured (contract/FACTS.md). The envelopes of the other clients have their own issue.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.merge import Merged

TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied")
"""Events whose matcher is held against the tool's name."""


def subject_key(event: str) -> str:
    """The payload key that an event's matcher is held against; empty where the matcher is ignored."""
    if event in TOOL_EVENTS:
        return "tool_name"
    return "source" if event == "SessionStart" else ""


DECISION_EVENTS = (
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "UserPromptSubmit",
    "PreCompact",
    "ConfigChange",
    "TaskCreated",
    "Stop",
    "SubagentStop",
)
"""Events where Claude obeys a top-level ``decision: block`` (measured)."""

CONTEXT_EVENTS = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "UserPromptSubmit",
    "SessionStart",
    "SubagentStart",
    "Stop",
    "SubagentStop",
)
"""Events whose ``additionalContext`` reaches a model (measured)."""


def envelope(event: str, merged: Merged) -> dict[str, Any]:
    """Claude Code's answer for a merged verdict: the exact fields of this event, or an empty dict for silence.

    One wrong-typed field would lose the whole answer, so only non-empty strings and dicts go in. What an event
    cannot carry is told to the user instead of vanishing.
    """
    answer: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    tells = [merged.tell] if merged.tell else []
    refusal = merged.reason if merged.decision in ("deny", "defer", "ask") else ""
    if event == "PreToolUse":
        if merged.decision:
            specific["permissionDecision"] = merged.decision
            if merged.reason:
                specific["permissionDecisionReason"] = merged.reason
        if merged.input is not None:
            specific["updatedInput"] = merged.input
    elif event == "PermissionRequest":
        decision: dict[str, Any] = {}
        if merged.decision in ("deny", "defer"):
            decision = {"behavior": "deny", "message": merged.reason}
        elif merged.decision == "allow":
            decision = {"behavior": "allow"}
            if merged.input is not None:
                decision["updatedInput"] = merged.input
        passed = merged.specific.get("decision")
        if decision and isinstance(passed, dict) and passed.get("behavior") == decision["behavior"]:
            decision = {**passed, **decision}
        if decision:
            specific["decision"] = decision
    elif event in DECISION_EVENTS:
        reason = "\n".join(part for part in (refusal, merged.keep_going) if part)
        if reason:
            answer["decision"] = "block"
            answer["reason"] = reason
    elif refusal:
        tells.append(f"{event} cannot block: {refusal}")
    if merged.keep_going and event not in DECISION_EVENTS:
        tells.append(f"{event} cannot keep a turn going: {merged.keep_going}")
    if merged.context:
        if event in CONTEXT_EVENTS:
            specific["additionalContext"] = merged.context
        else:
            tells.append(merged.context)
    if merged.stop:
        answer["continue"] = False
        answer["stopReason"] = merged.stop
    if tells:
        answer["systemMessage"] = "\n".join(tells)
    answer = {**merged.top, **answer}
    specific = {**merged.specific, **specific}
    if specific:
        answer["hookSpecificOutput"] = {"hookEventName": event, **specific}
    return answer
