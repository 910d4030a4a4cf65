"""Payloads as they are kept: nothing of this machine, one of each kind."""

import json
from pathlib import Path

from overdeck.probe.recording import name_of, redacted, write

FOLDERS = {"/tmp/x/project": "/home/dev/proj", "/tmp/x/home": "/home/dev"}


def test_folders_slugs_and_ids_of_this_machine_are_replaced_at_any_depth() -> None:
    payload = {
        "cwd": "/tmp/x/project",
        "transcript_path": "/tmp/x/home/.claude/projects/-tmp-x-project/89168429-3bfa-47d9-8b66-669c3fa61164.jsonl",
        "tool_calls": [{"tool_input": {"file_path": "/tmp/x/project/a.txt"}}],
    }
    assert redacted(payload, FOLDERS) == {
        "cwd": "/home/dev/proj",
        "transcript_path": "/home/dev/.claude/projects/-home-dev-proj/00000000-0000-4000-8000-000000000000.jsonl",
        "tool_calls": [{"tool_input": {"file_path": "/home/dev/proj/a.txt"}}],
    }


def test_a_file_is_named_after_event_tool_and_subagent() -> None:
    assert name_of({"hook_event_name": "PreToolUse", "tool_name": "mcp__a__b"}) == "PreToolUse.mcp__a__b"
    assert name_of({"hook_event_name": "SessionStart", "source": "startup"}) == "SessionStart.startup"
    inside = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "agent_id": "a"}
    assert name_of(inside) == "PreToolUse.Bash.insubagent"
    assert name_of({"hook_event_name": "../../x"}) == "______x"


def test_the_first_payload_of_each_kind_is_written(tmp_path: Path) -> None:
    kept = [("Stop", {"hook_event_name": "Stop", "n": number}) for number in range(3)]
    (file,) = write(kept, tmp_path / "new")
    assert json.loads(file.read_bytes())["n"] == 0
