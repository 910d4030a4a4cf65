"""PreToolUse Bash: what was just downloaded is not run unread."""

import json
import re
import sys

PIPED = re.compile(
    r"\b(curl|wget)\b[^;&]*\|\s*(sudo\s+)?(ba|z|da)?sh\b|\b(ba|z)?sh\s+(-c\s+\"?\$|<)\(\s*(curl|wget)\b"
)

call = json.load(sys.stdin)
if PIPED.search(call.get("tool_input", {}).get("command", "")):
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "Download it to a file, read it, then run it.",
            }
        },
        sys.stdout,
    )
