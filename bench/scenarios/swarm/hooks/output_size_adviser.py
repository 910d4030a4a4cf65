"""PostToolUse Bash: long output costs context; say so once it is there."""

import json
import sys

LIMIT = 20_000

call = json.load(sys.stdin)
answer = call.get("tool_response", {})
size = len(answer.get("stdout", "")) if isinstance(answer, dict) else 0
if size > LIMIT:
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PostToolUse",
                "additionalContext": f"That printed {size} characters: pipe it through head or grep.",
            }
        },
        sys.stdout,
    )
