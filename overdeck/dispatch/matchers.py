"""Matchers, and the events and tools they are compiled for: Claude Code 2.1.197, measured (contract/FACTS.md).

Beside the hot path: plans hold the routes that matchers were compiled to, so a call evaluates one only where the plan
says "ask Python".
"""

from __future__ import annotations

from overdeck.dispatch.clients import TOOL_EVENTS, subject_key

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

SOURCES = ("startup", "resume", "clear", "compact")
"""What a SessionStart matcher is held against."""

_ALIASES = {"Agent": "Task"}
"""The subagent tool is called Agent; a matcher that says Task still matches it (measured)."""

PYTHON_ONLY = r"(?<!\\)\(\?(?:[aiLmsux]+\)|P[<=>]|>|#|\()"
"""Groups that Python's regexes have and JavaScript's have not: to Claude such a matcher is invalid."""

_EXACT = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-|, ")


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


def looks_at_files(matcher: str) -> bool:
    """Whether a module with this matcher is asked about writes or edits of files."""
    return any(matches(matcher, tool) for tool in ("Write", "Edit", "MultiEdit"))


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
