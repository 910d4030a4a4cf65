"""Codex CLI 0.171.0: Claude's names for most things, and no tolerance at all in answers.

An unknown key, an empty reason, ``continue: false`` before a tool: each loses the whole answer, a deny with it
(measured). Which keys an event knows is from its published schemas.
"""

from __future__ import annotations

from overdeck.dispatch.dialects import applypatch
from overdeck.dispatch.dialects.heard import Heard, dictionary, renamed, restored
from overdeck.dispatch.dialects.refusal import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.merge import Merged

EVENTS = {
    event: event
    for event in (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Stop",
    )
}
TOOLS = {"Bash": "Bash", "apply_patch": "Edit", "view_image": "Read", "spawn_agent": "Agent"}
PATCH = "apply_patch"

_KEYS = {"view_image": {"path": "file_path"}, "spawn_agent": {"message": "prompt"}}
_FILE_TOOLS = ("Edit", "Write", "MultiEdit")
_CONTEXT = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStart")
_BLOCK = ("PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop")
_STOP = ("PostToolUse", "UserPromptSubmit", "SessionStart", "Stop", "SubagentStop")


def names(tool: str, top: dict[str, Any]) -> tuple[str, ...]:
    if tool == PATCH:
        return (*_FILE_TOOLS, tool)
    return (TOOLS[tool], tool) if tool in TOOLS else (tool,)


def server_tool(name: str) -> str:
    return name


def heard(event: str, top: dict[str, Any]) -> Heard:
    own = top.get("tool_name")
    if not isinstance(own, str):
        return Heard(top, [])
    given = dictionary(top.get("tool_input"))
    command = given.get("command")
    text = command if isinstance(command, str) else ""
    response = top.get("tool_response")
    if own == "Bash" and isinstance(response, str):
        top = {**top, "tool_response": {"stdout": response, "stderr": "", "interrupted": False}}
    if own == PATCH:
        return _patched(top, text, [])
    tool = TOOLS.get(own, own)
    told = {**top, "tool_name": tool, "tool_input": renamed(given, _KEYS.get(own, {}))}
    here = [(tool, told["tool_input"])]
    if own == "Bash" and applypatch.BEGIN in text and ("apply_patch" in text or "applypatch" in text):
        found = _patched(told, text[text.index(applypatch.BEGIN) :], [here])
        found.hidden = True
        return found
    return Heard(told, [here])


def _patched(top: dict[str, Any], patch: str, before: list[list[tuple[str, dict[str, Any]]]]) -> Heard:
    try:
        files = applypatch.calls(patch)
    except applypatch.PatchError as error:
        return Heard(top, before, f"the patch cannot be read: {error}")
    tool, given = (before or files)[0][0]
    return Heard({**top, "tool_name": tool, "tool_input": given}, [*before, *files])


def own_input(tool: str, changed: dict[str, Any]) -> dict[str, Any]:
    return restored(changed, _KEYS.get(tool, {}))


def turn(top: dict[str, Any]) -> str:
    return str(top.get("turn_id", ""))


def envelope(event: str, merged: Merged) -> tuple[dict[str, Any], list[str]]:
    answer: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    tells = [merged.tell] if merged.tell else []
    lost: list[str] = []
    refused = refusal(merged, "Codex")
    if event == "PreToolUse":
        if refused:
            specific = {"permissionDecision": "deny", "permissionDecisionReason": refused}
        elif merged.input is not None:
            specific = {"permissionDecision": "allow", "updatedInput": merged.input}
        elif merged.decision == "allow":
            lost.append(f"Codex takes no allow before a tool: {merged.reason}")
        if merged.keep_going:
            tells.append(f"{event} cannot keep a turn going: {merged.keep_going}")
    elif event == "PermissionRequest":
        if merged.decision in ("deny", "defer"):
            specific["decision"] = {"behavior": "deny", "message": refused}
        elif merged.decision == "allow":
            specific["decision"] = {"behavior": "allow"}
        if merged.input is not None:
            lost.append("Codex takes no rewrite with a permission")
        if merged.keep_going:
            tells.append(f"{event} cannot keep a turn going: {merged.keep_going}")
    else:
        reason = "\n".join(part for part in (refused, merged.keep_going) if part)
        if reason and event in _BLOCK:
            answer = {"decision": "block", "reason": reason}
        elif reason:
            tells.append(f"{event} cannot block: {reason}")
    if merged.context:
        if event in _CONTEXT:
            specific["additionalContext"] = merged.context
        else:
            tells.append(merged.context)
    if merged.stop:
        if event in _STOP:
            answer["continue"] = False
            answer["stopReason"] = merged.stop
        else:
            tells.append(f"{event} cannot end the turn: {merged.stop}")
    if tells:
        answer["systemMessage"] = "\n".join(tells)
    if specific:
        answer["hookSpecificOutput"] = {"hookEventName": event, **specific}
    return answer, lost
