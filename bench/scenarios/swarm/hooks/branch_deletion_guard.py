"""PreToolUse Bash: deleting a branch, here or on the remote, needs a yes."""

import json
import re
import sys

DELETION = re.compile(r"\bgit\b[^|;&]*(\bbranch\s+(-D|--delete\s+--force)|\bpush\b[^|;&]*(\s--delete\b|\s:\S))")

call = json.load(sys.stdin)
if DELETION.search(call.get("tool_input", {}).get("command", "")):
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "ask",
                "permissionDecisionReason": "This deletes a branch; commits only it holds become unreachable.",
            }
        },
        sys.stdout,
    )
