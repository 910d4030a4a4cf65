import json, sys
json.load(sys.stdin)
print(json.dumps({"continue": "false", "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}))
