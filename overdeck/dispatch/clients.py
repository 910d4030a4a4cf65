"""Names per client: which events and tools exist, how a matcher matches, and what an answer looks like.

Claude Code 2.1.197, measured (contract/FACTS.md). The envelopes of the other clients have their own issue.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.merge import Merged

CLAUDE_EVENTS = (
    "SessionStart",
    "SessionEnd",
    "Setup",
    "InstructionsLoaded",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
    "MessageDisplay",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "FileChanged",
    "CwdChanged",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "WorktreeCreate",
    "WorktreeRemove",
)

CLAUDE_TOOLS = (
    "Agent",
    "Bash",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterWorktree",
    "ExitWorktree",
    "Glob",
    "Grep",
    "NotebookEdit",
    "Read",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
)

TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied")
"""Events whose matcher is held against the tool's name."""

SOURCES = ("startup", "resume", "clear", "compact")
"""What a SessionStart matcher is held against."""

_ALIASES = {"Agent": "Task"}
"""The subagent tool is called Agent; a matcher that says Task still matches it (measured)."""

PYTHON_ONLY = r"(?<!\\)\(\?(?:[aiLmsux]+\)|P[<=>]|>|#|\()"
"""Groups that Python's regexes have and JavaScript's have not: to Claude such a matcher is invalid."""

_EXACT = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-|, ")


def subject_key(event: str) -> str:
    """The payload key that an event's matcher is held against; empty where the matcher is ignored."""
    if event in TOOL_EVENTS:
        return "tool_name"
    return "source" if event == "SessionStart" else ""


def matches(matcher: str, subject: str) -> bool:
    """Whether Claude Code would start a hook with this matcher for this tool (or session source).

    Only letters, digits, ``_ - | ,`` and blanks make an exact list; any other character makes an unanchored,
    case-sensitive regex search; an invalid regex never matches.
    """
    if matcher in ("", "*"):
        return True
    names = [subject, _ALIASES[subject]] if subject in _ALIASES else [subject]
    if is_exact(matcher):
        return any(name in exact_names(matcher) for name in names)
    import re

    try:
        if re.search(PYTHON_ONLY, matcher):
            return False
        pattern = re.compile(matcher)
    except (re.error, RecursionError, OverflowError):
        return False
    return any(pattern.search(name) is not None for name in names)


def is_exact(matcher: str) -> bool:
    """Whether a matcher is a list of names rather than a regex."""
    return all(letter in _EXACT for letter in matcher)


def exact_names(matcher: str) -> list[str]:
    """The names of an exact list, blanks trimmed, empty ones dropped (``"|"`` matches nothing)."""
    return [name for part in matcher.split("|") for piece in part.split(",") if (name := piece.strip())]


def routes(event: str, matcher: str) -> list[str]:
    """A matcher compiled to the ``tools=`` of a plan: names, ``*`` for every call, ``?`` for "ask Python"."""
    if matcher in ("", "*") or not subject_key(event):
        return ["*"]
    known = CLAUDE_TOOLS if event in TOOL_EVENTS else SOURCES
    names = [name for name in known if matches(matcher, name)]
    if not is_exact(matcher):
        return [*names, "?"]
    return sorted({*names, *exact_names(matcher)}) or ["-"]


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
        if decision:
            specific["decision"] = decision
    elif event in DECISION_EVENTS:
        reason = "\n".join(part for part in (refusal, merged.keep_going) if part)
        if reason:
            answer["decision"] = "block"
            answer["reason"] = reason
    elif refusal or merged.keep_going:
        tells.append(f"{event} cannot block: {refusal or merged.keep_going}")
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
    if specific:
        answer["hookSpecificOutput"] = {"hookEventName": event, **specific}
    return answer
