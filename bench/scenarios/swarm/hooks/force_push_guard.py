"""PreToolUse Bash: a force push rewrites what others have pulled."""

import json
import re
import sys

FORCED = re.compile(r"\bgit\b[^|;&]*\bpush\b[^|;&]*(\s--force(?!-with-lease)\b|\s-[a-zA-Z]*f|\s\+\S+)")

call = json.load(sys.stdin)
command = call.get("tool_input", {}).get("command", "")
if FORCED.search(command):
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "Force push refused: ask the owner, or push a new branch.",
            }
        },
        sys.stdout,
    )
