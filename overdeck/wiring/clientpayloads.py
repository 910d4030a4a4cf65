"""A small realistic payload for the events of every client that payloads were recorded from (contract/)."""

from typing import Any

from overdeck.wiring.payloads import payload_for

RECORDED = ("claude", "codex", "gemini")
"""Clients whose payloads are known. Hooks of others are read, and never run: nobody knows what to hand them."""

_CODEX_INPUT: dict[str, dict[str, Any]] = {
    "Bash": {"command": "echo hi"},
    "apply_patch": {"command": "*** Begin Patch\n*** Add File: new.txt\n+alpha\n*** End Patch\n"},
}
_CODEX_TURN = {"model": "gpt-5.5", "permission_mode": "default"}
_CODEX_NOT = ("prompt_id", "effort", "duration_ms", "background_tasks", "session_crons")
"""What only Claude Code says."""

_GEMINI_INPUT: dict[str, dict[str, Any]] = {
    "run_shell_command": {"command": "echo hi", "description": "say hi"},
    "write_file": {"file_path": "new.txt", "content": "alpha\n"},
}
_GEMINI_EVENT: dict[str, dict[str, Any]] = {
    "BeforeAgent": {"prompt": "please run it"},
    "AfterAgent": {"prompt": "please run it", "prompt_response": "All done.", "stop_hook_active": False},
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "exit"},
    "PreCompress": {"trigger": "auto"},
}


def payload_of(client: str, event: str, subject: str, *, cwd: str, transcript: str) -> dict[str, Any]:
    """What ``client``, one of ``RECORDED``, would write to a hook's stdin for ``event`` on ``subject``."""
    if client == "gemini":
        return _gemini(event, subject, cwd, transcript)
    payload = payload_for(event, subject, cwd=cwd, transcript=transcript)
    return _as_codex(payload, event, subject) if client == "codex" else payload


def _as_codex(payload: dict[str, Any], event: str, subject: str) -> dict[str, Any]:
    kept = {name: value for name, value in payload.items() if name not in _CODEX_NOT} | _CODEX_TURN
    if event != "SessionStart":
        kept["turn_id"] = payload["session_id"]
    if "tool_name" in kept:
        kept["tool_input"] = _CODEX_INPUT.get(subject, {})
        if event == "PostToolUse":
            kept["tool_response"] = "hi\n"  # a string, and no exit code with it (FACTS 5)
    return kept


def _gemini(event: str, subject: str, cwd: str, transcript: str) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "session_id": "00000000-0000-4000-8000-000000000000",
        "transcript_path": transcript,
        "cwd": cwd,
        "hook_event_name": event,
        "timestamp": "2026-01-01T00:00:00.000Z",
    }
    if event in ("BeforeTool", "AfterTool"):
        payload |= {"tool_name": subject, "tool_input": _GEMINI_INPUT.get(subject, {})}
    if event == "AfterTool":
        payload["tool_response"] = {"llmContent": "Output: hi\n", "returnDisplay": "hi"}
    return payload | _GEMINI_EVENT.get(event, {})
