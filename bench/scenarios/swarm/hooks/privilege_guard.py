"""PreToolUse Bash: sudo and friends need a yes."""

import json
import re
import sys

RAISED = re.compile(r"(^|[;&|(]\s*)(sudo|doas|su\s+-)(\s|$)")

call = json.load(sys.stdin)
if RAISED.search(call.get("tool_input", {}).get("command", "")):
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "ask",
                "permissionDecisionReason": "This command runs with another user's rights.",
            }
        },
        sys.stdout,
    )
