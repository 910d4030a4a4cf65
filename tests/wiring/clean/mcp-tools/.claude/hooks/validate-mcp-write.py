import json
import sys

payload = json.loads(sys.stdin.buffer.read())
path = payload["tool_input"].get("path", "")
answer = {"hookEventName": "PreToolUse"}
if path.startswith("/etc/"):
    answer["permissionDecision"] = "deny"
    answer["permissionDecisionReason"] = f"{path} belongs to the system"
    print(json.dumps({"hookSpecificOutput": answer}))
