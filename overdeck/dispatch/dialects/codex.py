"""Codex CLI 0.171.0: Claude's names for most things, and no tolerance at all in answers.

An unknown key, an empty reason, ``continue: false`` before a tool or with a permission: each loses the whole answer, a
deny with it. Every cell of the tables here was measured (docs/plans/clients.md).
"""

from __future__ import annotations

from overdeck.dispatch.dialects import applypatch
from overdeck.dispatch.dialects.heard import Heard, dictionary, renamed, restored
from overdeck.dispatch.dialects.refusal import closed, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from overdeck.dispatch.dialects.heard import Wording
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
SKILL_FILE = "SKILL"
"""How the name of a skill's file begins; a glob may stand for the rest."""

_ENDS_PATH = " \t\n\"'`;|&<>(){}"
_KEYS = {"view_image": {"path": "file_path"}, "spawn_agent": {"message": "prompt"}}
_FILE_TOOLS = ("Edit", "Write", "MultiEdit")
_CONTEXT = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStart")
_BLOCK = ("PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop")
_STOP = ("UserPromptSubmit", "SessionStart", "PreCompact", "PostCompact", "Stop", "SubagentStop")
"""After a tool ``continue: false`` only replaces the output, and the turn goes on."""


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
    if own != "Bash":
        return Heard(told, [here])
    skills: list[list[Wording]] = [[("Skill", {"skill": name})] for name in _skills_in(text)]
    found = Heard(told, [here, *skills])
    if applypatch.BEGIN in text and ("apply_patch" in text or "applypatch" in text):
        found = _patched(told, text[text.index(applypatch.BEGIN) :], [here, *skills])
    found.hidden = len(found.calls) > 1 or bool(found.problem)
    return found


def _skills_in(command: str) -> list[str]:
    """The skills whose ``SKILL.md`` a shell command names, by the folder it is in.

    Codex has no tool for skills: its model is told their files and reads them in a shell (measured). Where the file
    stands apart from its folder (``cd …/skills/NAME && cat SKILL.md``) every folder of skills that is named counts.
    """
    if SKILL_FILE not in command:
        return []
    found: dict[str, None] = {}
    for rest in command.split("skills/")[1:]:
        end = next((at for at, letter in enumerate(rest) if letter in _ENDS_PATH), len(rest))
        folders = [part for part in rest[:end].split("/") if part and not part.startswith(SKILL_FILE)]
        if folders:
            found[folders[-1]] = None
    return list(found)


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
        elif merged.reason:  # the owner is asked in any case
            tells.append(merged.reason)
        if merged.input is not None:
            lost.append("Codex takes no rewrite with a permission")
        if merged.keep_going:
            tells.append(f"{event} cannot keep a turn going: {merged.keep_going}")
    else:
        reason = "\n".join(part for part in (refused, merged.keep_going) if part)
        if reason and event in _BLOCK:
            answer = {"decision": "block", "reason": reason}
        elif reason and not (event in _STOP and reason == merged.stop):
            tells.append(f"{event} cannot block: {reason}")
    carries = {"context": event in _CONTEXT, "stop": event in _STOP}
    return closed(event, merged, answer, specific, tells, **carries), lost
