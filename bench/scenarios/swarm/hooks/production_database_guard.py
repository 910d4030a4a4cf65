"""PreToolUse Bash: destructive SQL never goes to a production host."""

import json
import re
import sys

CLIENT = re.compile(r"\b(psql|mysql|mariadb|mongosh|redis-cli)\b")
PRODUCTION = re.compile(r"\b(prod|production|live)[\w.-]*", re.IGNORECASE)
DESTRUCTIVE = re.compile(
    r"\b(drop\s+(table|database|schema)|truncate\s|delete\s+from|flushall|dropdatabase)", re.IGNORECASE
)

call = json.load(sys.stdin)
command = call.get("tool_input", {}).get("command", "")
if CLIENT.search(command) and PRODUCTION.search(command) and DESTRUCTIVE.search(command):
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "Destructive statement on a production database.",
            }
        },
        sys.stdout,
    )
