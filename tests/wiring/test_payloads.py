"""A payload for every event of Claude Code, in the shape that was recorded."""

import json

import pytest

from overdeck.dispatch.matchers import CLAUDE_EVENTS, CLAUDE_TOOLS
from overdeck.wiring.payloads import payload_for

OWN = {
    "StopFailure": {"error", "last_assistant_message", "effort"},
    "SubagentStop": {"agent_id", "agent_type", "agent_transcript_path", "background_tasks", "session_crons"},
    "PostCompact": {"trigger", "compact_summary"},
    "Setup": {"trigger"},
    "UserPromptExpansion": {"expansion_type", "command_name", "command_args", "command_source", "prompt"},
    "InstructionsLoaded": {"file_path", "memory_type", "load_reason"},
    "MessageDisplay": {"turn_id", "message_id", "index", "final", "delta"},
    "TaskCreated": {"task_id", "task_subject", "task_description"},
    "TaskCompleted": {"task_id", "task_subject", "task_description"},
    "ConfigChange": {"source", "file_path"},
    "CwdChanged": {"old_cwd", "new_cwd"},
    "FileChanged": {"file_path", "event"},
    "WorktreeCreate": {"name"},
    "WorktreeRemove": {"worktree_path"},
    "Elicitation": {"mcp_server_name", "message", "mode", "requested_schema"},
    "ElicitationResult": {"mcp_server_name", "mode", "action"},
}
"""Event → the keys that its recordings (contract/claude-code) have beside those of every event."""


@pytest.mark.parametrize("event", CLAUDE_EVENTS)
def test_every_event_has_the_keys_of_all_and_its_own(event):
    payload = payload_for(event, "Bash", cwd="/p", transcript="/t.jsonl")

    assert payload["hook_event_name"] == event
    assert {"session_id", "transcript_path", "cwd"} | OWN.get(event, set()) <= set(payload)
    assert ("prompt_id" in payload) is (event not in ("SessionStart", "Setup", "InstructionsLoaded"))


@pytest.mark.parametrize("event", CLAUDE_EVENTS)
@pytest.mark.parametrize("tool", CLAUDE_TOOLS)
def test_no_placeholder_is_left(event, tool):
    assert "{cwd}" not in json.dumps(payload_for(event, tool, cwd="/p", transcript="/t.jsonl"))
