"""PreToolUse Bash: servers and watchers belong in the background."""

import json
import re
import sys

ENDLESS = re.compile(
    r"(?:^|[;&|]\s*)(npm\s+(run\s+)?(dev|start)|yarn\s+dev|vite(\s|$)|tail\s+-[a-zA-Z]*[fF]|watch\s"
    r"|python3?\s+-m\s+http\.server|docker\s+compose\s+up(?!.*\s-d))"
)

call = json.load(sys.stdin)
given = call.get("tool_input", {})
if ENDLESS.search(given.get("command", "")) and not given.get("run_in_background"):
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "additionalContext": "This does not end by itself: start it with run_in_background.",
            }
        },
        sys.stdout,
    )
