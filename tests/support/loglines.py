"""Lines of the two logs, as the front writes them."""

from typing import Any

FIRE = {"ts": "2026-03-01T10:00:00.250Z", "event": "PreToolUse", "module": "m", "action": "deny"}
CALL: dict[str, Any] = {
    "ts": "2026-03-01T10:00:00Z",
    "v": 1,
    "plan": "0123abcd",
    "client": "claude",
    "event": "PreToolUse",
    "tool": "Bash",
    "session": "s",
    "sub": False,
    "in": 5,
    "out": 0,
    "us": 7,
    "ran": {"m": {"us": 3, "bytes": 0, "end": "none"}},
}
