"""A small realistic payload for every event and tool, in the shape recorded from Claude Code 2.1.197."""

from typing import Any

_SESSION = "00000000-0000-4000-8000-000000000000"

_TOOL_INPUT: dict[str, dict[str, Any]] = {
    "Bash": {"command": "echo hi", "description": "say hi"},
    "Read": {"file_path": "{cwd}/a.txt"},
    "Write": {"file_path": "{cwd}/new.txt", "content": "alpha\nbeta\n"},
    "Edit": {"file_path": "{cwd}/a.txt", "old_string": "one", "new_string": "ONE", "replace_all": False},
    "NotebookEdit": {"notebook_path": "{cwd}/n.ipynb", "cell_id": "a", "new_source": "1 + 1"},
    "Glob": {"pattern": "*.txt"},
    "Grep": {"pattern": "one", "path": "{cwd}"},
    "WebFetch": {"url": "http://localhost/", "prompt": "sum it up"},
    "WebSearch": {"query": "hooks"},
    "Agent": {"description": "look", "prompt": "look around", "subagent_type": "general-purpose"},
    "Skill": {"skill": "demo"},
    "EnterWorktree": {"name": "feat-a"},
    "TaskCreate": {"subject": "s1", "description": "d1"},
    "TaskUpdate": {"taskId": "1", "status": "completed"},
}

_TOOL_RESPONSE: dict[str, Any] = {
    "Bash": {"stdout": "hi", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False},
    "Write": {
        "type": "create",
        "filePath": "{cwd}/new.txt",
        "content": "alpha\nbeta\n",
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    },
    "Edit": {
        "filePath": "{cwd}/a.txt",
        "oldString": "one",
        "newString": "ONE",
        "originalFile": "one\ntwo\n",
        "structuredPatch": [
            {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": ["-one", "+ONE", " two"]}
        ],
        "userModified": False,
        "replaceAll": False,
    },
    "Read": {"type": "text", "file": {"filePath": "{cwd}/a.txt", "content": "one\ntwo\n", "numLines": 2}},
}

_TURN: dict[str, Any] = {"permission_mode": "default", "effort": {"level": "high"}}
_TASK = {"task_id": "1", "task_subject": "s1", "task_description": "d1"}
_AGENT = {"agent_id": "a000000000000000", "agent_type": "general-purpose"}

_EVENT_KEYS: dict[str, dict[str, Any]] = {
    "PostToolUse": {"duration_ms": 5},
    "PostToolUseFailure": {"error": "Exit code 3", "is_interrupt": False, "duration_ms": 9},
    "PermissionRequest": {"permission_suggestions": []},
    "PermissionDenied": {"reason": "not now"},
    "PostToolBatch": {**_TURN, "tool_calls": []},
    "UserPromptSubmit": {"permission_mode": "default", "prompt": "please run it"},
    "SessionEnd": {"reason": "other"},
    "Stop": {
        **_TURN,
        "stop_hook_active": False,
        "last_assistant_message": "All done.",
        "background_tasks": [],
        "session_crons": [],
    },
    "SubagentStart": {**_AGENT},
    "StopFailure": {
        "effort": {"level": "high"},
        "error": "rate_limit",
        "last_assistant_message": "API Error: Request rejected (429)",
    },
    "SubagentStop": {
        **_AGENT,
        **_TURN,
        "stop_hook_active": False,
        "agent_transcript_path": "{cwd}/agent-a000000000000000.jsonl",
        "last_assistant_message": "sub done",
        "background_tasks": [],
        "session_crons": [],
    },
    "PreCompact": {"trigger": "auto", "custom_instructions": None},
    "PostCompact": {"trigger": "manual", "compact_summary": "what was said"},
    "Setup": {"trigger": "init"},
    "UserPromptExpansion": {
        "permission_mode": "default",
        "expansion_type": "slash_command",
        "command_name": "demo",
        "command_args": "",
        "command_source": "projectSettings",
        "prompt": "/demo",
    },
    "InstructionsLoaded": {
        "file_path": "{cwd}/CLAUDE.md",
        "memory_type": "Project",
        "load_reason": "session_start",
    },
    "MessageDisplay": {
        "turn_id": _SESSION,
        "message_id": _SESSION,
        "index": 0,
        "final": True,
        "delta": "All done.",
    },
    "TaskCreated": _TASK,
    "TaskCompleted": _TASK,
    "ConfigChange": {"source": "project_settings", "file_path": "{cwd}/.claude/settings.json"},
    "CwdChanged": {"old_cwd": "{cwd}", "new_cwd": "{cwd}/sub"},
    "FileChanged": {"file_path": "{cwd}/a.txt", "event": "change"},
    "WorktreeCreate": {"name": "feat-a"},
    "WorktreeRemove": {"worktree_path": "{cwd}/wt"},
    "Elicitation": {
        "mcp_server_name": "demo",
        "message": "Your name?",
        "mode": "form",
        "requested_schema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
    "ElicitationResult": {"mcp_server_name": "demo", "mode": "form", "action": "cancel"},
    "Notification": {"message": "Claude is waiting for your input", "notification_type": "idle_prompt"},
}


_BEFORE_A_PROMPT = ("SessionStart", "Setup", "InstructionsLoaded")
"""Events that may come before the first prompt, whose ``prompt_id`` they would name."""


def payload_for(event: str, subject: str, *, cwd: str, transcript: str) -> dict[str, Any]:
    """What the client would write to a hook's stdin for ``event``, with ``subject`` its tool, source or agent."""
    from overdeck.dispatch.clients import TOOL_EVENTS

    payload: dict[str, Any] = {
        "session_id": _SESSION,
        "transcript_path": transcript,
        "cwd": cwd,
        "hook_event_name": event,
    }
    if event not in _BEFORE_A_PROMPT:
        payload["prompt_id"] = _SESSION
    if event in TOOL_EVENTS:
        payload |= _TURN | {"tool_name": subject, "tool_input": _placed(_TOOL_INPUT.get(subject, {}), cwd)}
        if event == "PostToolUse":
            payload["tool_response"] = _placed(_TOOL_RESPONSE.get(subject, {}), cwd)
        if event != "PermissionRequest":
            payload["tool_use_id"] = "toolu_00000000000000000000"
    elif event == "SessionStart":
        payload["source"] = subject or "startup"
    own: dict[str, Any] = _placed(_EVENT_KEYS.get(event, {}), cwd)
    if event == "SubagentStop" and subject not in ("", "*"):
        own["agent_type"] = subject
    return payload | own


def _placed(value: Any, cwd: str) -> Any:
    """The value with every ``{cwd}`` at the start of a string replaced."""
    if isinstance(value, str):
        return cwd + value[5:] if value.startswith("{cwd}") else value
    if isinstance(value, dict):
        return {key: _placed(item, cwd) for key, item in value.items()}
    if isinstance(value, list):
        return [_placed(item, cwd) for item in value]
    return value
