"""OpenCode 1.18.33, through the plugin that ``overdeck install`` writes (wiring/opencode/plugin.js).

The plugin makes the payloads and obeys the answers, so both are Claude's in form, with OpenCode's own names for tools
and their inputs.
"""

from __future__ import annotations

from overdeck.dispatch import clients
from overdeck.dispatch.dialects import applypatch
from overdeck.dispatch.dialects.heard import Heard, dictionary, renamed, restored
from overdeck.dispatch.dialects.refusal import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.merge import Merged

EVENTS = {
    "SessionStart": "chat.message",
    "UserPromptSubmit": "chat.message",
    "PreToolUse": "tool.execute.before",
    "PostToolUse": "tool.execute.after",
    "Stop": "session.idle",
}
"""SessionStart is the first message of a session: what it says can then stand beside that message."""
TOOLS = {
    "bash": "Bash",
    "read": "Read",
    "write": "Write",
    "edit": "Edit",
    "multiedit": "MultiEdit",
    "apply_patch": "Edit",
    "patch": "Edit",
    "glob": "Glob",
    "grep": "Grep",
    "webfetch": "WebFetch",
    "websearch": "WebSearch",
    "task": "Agent",
    "todowrite": "TodoWrite",
    "skill": "Skill",
}
PATCH = "apply_patch"

_PATCHES = ("apply_patch", "patch")
_FILE = {"filePath": "file_path"}
_EDIT = {**_FILE, "oldString": "old_string", "newString": "new_string", "replaceAll": "replace_all"}
_KEYS = {
    "read": _FILE,
    "write": _FILE,
    "edit": _EDIT,
    "multiedit": _FILE,
    "grep": {"include": "glob"},
    "skill": {"name": "skill"},
}


def names(tool: str, top: dict[str, Any]) -> tuple[str, ...]:
    if tool in _PATCHES:
        return ("Edit", "Write", "MultiEdit", tool)
    if tool in TOOLS:
        return (TOOLS[tool], tool)
    server = top.get("mcp_server")
    if isinstance(server, str) and server and tool.startswith(f"{server}_"):
        return (f"mcp__{server}__{tool[len(server) + 1 :]}", tool)
    return (tool,)


def server_tool(name: str) -> str:
    return name.removeprefix("mcp__").replace("__", "_", 1)


def heard(event: str, top: dict[str, Any]) -> Heard:
    own = top.get("tool_name")
    if not isinstance(own, str):
        return Heard(top, [])
    given = dictionary(top.get("tool_input"))
    if own in _PATCHES:
        patch = given.get("patchText")
        try:
            files = applypatch.calls(patch if isinstance(patch, str) else "")
        except applypatch.PatchError as error:
            return Heard(top, [], f"the patch cannot be read: {error}")
        tool, first = files[0][0]
        return Heard({**top, "tool_name": tool, "tool_input": first}, files)
    tool = names(own, top)[0]
    told = renamed(given, _KEYS.get(own, {}))
    if own == "multiedit" and isinstance(told.get("edits"), list):
        told["edits"] = [renamed(edit, _EDIT) if isinstance(edit, dict) else edit for edit in told["edits"]]
    top = {**top, "tool_name": tool, "tool_input": told}
    response = dictionary(top.get("tool_response"))
    if tool == "Bash" and isinstance(response.get("output"), str):
        top["tool_response"] = {**response, "stdout": response["output"], "stderr": "", "interrupted": False}
    return Heard(top, [[(tool, told)]])


def own_input(tool: str, changed: dict[str, Any]) -> dict[str, Any]:
    own = restored(changed, _KEYS.get(tool, {}))
    if tool == "multiedit" and isinstance(own.get("edits"), list):
        own["edits"] = [restored(edit, _EDIT) if isinstance(edit, dict) else edit for edit in own["edits"]]
    return own


def turn(top: dict[str, Any]) -> str:
    return ""


def envelope(event: str, merged: Merged) -> tuple[dict[str, Any], list[str]]:
    """Claude's fields, of which only those are left that the plugin can do something with."""
    lost: list[str] = []
    tells = [merged.tell] if merged.tell else []
    refused = refusal(merged, "OpenCode")
    if merged.decision == "allow":
        lost.append(f"OpenCode takes no allow from a plugin: {merged.reason}")
    merged.decision, merged.reason = ("deny", refused) if refused else ("", "")
    merged.input = None if refused else merged.input
    if event == "Stop":
        tells += [f"OpenCode cannot keep a turn going: {why}" for why in (refused, merged.keep_going) if why]
        tells += [merged.context] if merged.context else []
        merged.decision = merged.reason = merged.keep_going = merged.context = ""
    if merged.stop:
        tells.append(f"OpenCode's plugins cannot end a turn: {merged.stop}")
        merged.stop = ""
    merged.tell = "\n".join(tells)
    return clients.envelope(event, merged), lost
