"""Gemini CLI 0.61.0: its own names for events and tools, and a ``decision`` that can only deny (measured)."""

from __future__ import annotations

from overdeck.dispatch.dialects.heard import Heard, dictionary, renamed, restored
from overdeck.dispatch.dialects.refusal import closed, refusal

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
"""Where ``decision`` counts."""
_STOP = ("PreToolUse", "PostToolUse", "Stop")
"""Where ``continue: false`` ends the turn. At a prompt it does, too, but headless nobody is told why; a deny is."""


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
    own_event = EVENTS.get(event, event)
    refused = refusal(merged, "Gemini CLI")
    both = refused if merged.stop in refused else "\n".join(part for part in (refused, merged.stop) if part)
    if event == "UserPromptSubmit":
        refused, merged.stop = both, ""
    elif merged.stop and event in _STOP:
        merged.stop = both  # of a deny and a stop the client shows the stop's reason alone
    reason = "\n".join(part for part in (refused, merged.keep_going) if part)
    if reason and event in _DENY and (refused or event != "PreToolUse"):
        answer = {"decision": "deny", "reason": reason}
    elif reason:
        tells.append(f"{own_event} cannot block: {reason}")
    elif merged.decision == "allow":
        lost.append(f"Gemini CLI takes no allow: {merged.reason}")
    if merged.input is not None and event == "PreToolUse" and "decision" not in answer:
        specific["tool_input"] = merged.input
    carries = {"context": event in _CONTEXT, "stop": event in _STOP}
    return closed(own_event, merged, answer, specific, tells, **carries), lost
