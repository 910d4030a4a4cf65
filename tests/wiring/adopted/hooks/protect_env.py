import json, sys
d = json.loads(sys.stdin.read())
path = d.get("tool_input", {}).get("file_path", "")
if any(p in path for p in [".env", "package-lock.json", ".git/"]):
    json.dump({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
               "permissionDecisionReason": "Access to " + path + " is prohibited"}}, sys.stdout)
