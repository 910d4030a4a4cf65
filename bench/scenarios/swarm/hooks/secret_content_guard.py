"""PreToolUse Write|Edit: keys do not get into files."""

import json
import re
import sys

KEYS = re.compile(
    r"\b(AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36}|sk-[A-Za-z0-9-]{32,})\b|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)

call = json.load(sys.stdin)
given = call.get("tool_input", {})
if KEYS.search(given.get("content") or given.get("new_string") or ""):
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "The text holds what looks like a key: read it from the environment.",
            }
        },
        sys.stdout,
    )
