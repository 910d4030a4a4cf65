import json
import sys

data = json.load(sys.stdin)
command = data.get("tool_input", {}).get("command", "")
if command in ("git status", "git diff"):
    decision = {"behavior": "allow"}
elif command.startswith("git push --force"):
    decision = {"behavior": "deny", "message": "Ask a person before a forced push."}
else:
    sys.exit(0)
json.dump({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}, sys.stdout)
