"""Gemini CLI 0.61.0: its own names for events and tools, and a ``decision`` that can only deny (measured)."""

from __future__ import annotations

from overdeck.dispatch.dialects.heard import Heard, dictionary, renamed, restored
from overdeck.dispatch.dialects.refusal import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.merge import Merged

EVENTS = {
    "SessionStart": "SessionStart",
    "SessionEnd": "SessionEnd",
    "UserPromptSubmit": "BeforeAgent",
    "PreToolUse": "BeforeTool",
    "PostToolUse": "AfterTool",
    "PreCompact": "PreCompress",
    "Notification": "Notification",
    "Stop": "AfterAgent",
}
TOOLS = {
    "run_shell_command": "Bash",
    "read_file": "Read",
    "read_many_files": "Read",
    "write_file": "Write",
    "replace": "Edit",
    "glob": "Glob",
    "grep_search": "Grep",
    "search_file_content": "Grep",
    "web_fetch": "WebFetch",
    "google_web_search": "WebSearch",
    "activate_skill": "Skill",
    "invoke_agent": "Agent",
}
PATCH = ""

_KEYS = {
    "glob": {"dir_path": "path"},
    "grep_search": {"dir_path": "path", "include_pattern": "glob", "include": "glob"},
    "search_file_content": {"dir_path": "path", "include": "glob"},
    "activate_skill": {"name": "skill"},
    "invoke_agent": {"agent_name": "subagent_type"},
}
_CONTEXT = ("PostToolUse", "UserPromptSubmit", "SessionStart")
_DENY = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop")
"""Where ``decision`` and ``continue`` count: before and after a tool measured, the other two from its source."""


def names(tool: str, top: dict[str, Any]) -> tuple[str, ...]:
    if tool in TOOLS:
        return (TOOLS[tool], tool)
    context = dictionary(top.get("mcp_context"))
    server, inner = context.get("server_name"), context.get("tool_name")
    if isinstance(server, str) and isinstance(inner, str) and server and inner:
        return (f"mcp__{server}__{inner}", tool)
    first, _, rest = tool.removeprefix("mcp_").partition("_")
    if (
        tool.startswith("mcp_") and first and rest
    ):  # a log line has no context; where a server's name ends is a guess
        return (f"mcp__{first}__{rest}", tool)
    return (tool,)


def server_tool(name: str) -> str:
    return "mcp_" + name.removeprefix("mcp__").replace("__", "_", 1)


def heard(event: str, top: dict[str, Any]) -> Heard:
    top = {**top, "hook_event_name": event}
    if event == "Stop" and "prompt_response" in top:
        top["last_assistant_message"] = top["prompt_response"]
    own = top.get("tool_name")
    if not isinstance(own, str):
        return Heard(top, [])
    tool = names(own, top)[0]
    given = renamed(dictionary(top.get("tool_input")), _KEYS.get(own, {}))
    top |= {"tool_name": tool, "tool_input": given}
    response = dictionary(top.get("tool_response"))
    shown = response.get("returnDisplay")
    if tool == "Bash" and isinstance(shown, str):
        top["tool_response"] = {**response, "stdout": shown, "stderr": "", "interrupted": False}
    elif tool in ("Write", "Edit") and isinstance(shown, dict):
        old = shown.get("originalContent")
        top["tool_response"] = {**response, "filePath": shown.get("filePath"), "originalFile": old}
    if own == "read_many_files":
        return _read_many(top, given)
    return Heard(top, [[(tool, given)]])


def _read_many(top: dict[str, Any], given: dict[str, Any]) -> Heard:
    """A Read for each path or pattern."""
    listed = [given.get(key) for key in ("include", "paths")]
    paths = [path for some in listed if isinstance(some, list) for path in some if isinstance(path, str)]
    return Heard(top, [[("Read", {**given, "file_path": path})] for path in paths] or [[("Read", given)]])


def own_input(tool: str, changed: dict[str, Any]) -> dict[str, Any]:
    return restored(changed, _KEYS.get(tool, {}))


def turn(top: dict[str, Any]) -> str:
    return ""


def envelope(event: str, merged: Merged) -> tuple[dict[str, Any], list[str]]:
    answer: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    tells = [merged.tell] if merged.tell else []
    lost: list[str] = []
    reason = "\n".join(part for part in (refusal(merged, "Gemini CLI"), merged.keep_going) if part)
    if reason and event in _DENY and not (event == "PreToolUse" and not refusal(merged, "")):
        answer = {"decision": "deny", "reason": reason}
    elif reason:
        tells.append(f"{EVENTS.get(event, event)} cannot block: {reason}")
    elif merged.decision == "allow":
        lost.append(f"Gemini CLI takes no allow: {merged.reason}")
    if merged.input is not None and event == "PreToolUse" and "decision" not in answer:
        specific["tool_input"] = merged.input
    if merged.context:
        if event in _CONTEXT:
            specific["additionalContext"] = merged.context
        else:
            tells.append(merged.context)
    if merged.stop:
        if event in _DENY:
            answer["continue"] = False
            answer["stopReason"] = merged.stop
        else:
            tells.append(f"{EVENTS.get(event, event)} cannot end the turn: {merged.stop}")
    if tells:
        answer["systemMessage"] = "\n".join(tells)
    if specific:
        answer["hookSpecificOutput"] = {"hookEventName": EVENTS.get(event, event), **specific}
    return answer, lost
