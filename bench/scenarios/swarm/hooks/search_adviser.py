"""PreToolUse Bash: searching with grep -r or find floods the context; there is a tool for it."""

import json
import re
import sys

SLOW = re.compile(r"(?:^|[;&|]\s*)(grep\s+(?:-\w+\s+)*-\w*[rR]|find\s+[./~]\S*\s[^|]*-name)")

call = json.load(sys.stdin)
if SLOW.search(call.get("tool_input", {}).get("command", "")):
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "additionalContext": "Grep and Glob skip ignored files and cut long results; prefer them.",
            }
        },
        sys.stdout,
    )
