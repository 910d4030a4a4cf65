import json
import sys

payload = json.load(sys.stdin)
if "rm -rf /" in payload["tool_input"].get("command", ""):
    print(
        json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": "never the root",
                }
            }
        )
    )
