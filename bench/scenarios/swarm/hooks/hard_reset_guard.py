"""PreToolUse Bash: hard resets, cleans and checkouts over changes need a yes."""

import json
import re
import sys

LOSSY = re.compile(
    r"\bgit\b[^|;&]*\b(reset\s+--hard|clean\s+-[a-zA-Z]*f|checkout\s+(--\s+)?\.(\s|$)|stash\s+(drop|clear))"
)

call = json.load(sys.stdin)
found = LOSSY.search(call.get("tool_input", {}).get("command", ""))
if found:
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "ask",
                "permissionDecisionReason": f"git {found.group(1).strip()} throws uncommitted work away.",
            }
        },
        sys.stdout,
    )
