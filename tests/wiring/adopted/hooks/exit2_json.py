import json, sys
c = json.load(sys.stdin)["tool_input"].get("command", "")
if "curl" in c:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "the JSON's reason"}}))
    print("the stderr's reason", file=sys.stderr)
    sys.exit(2)
if "wget" in c or "git" in c:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}))
    raise SystemExit(2)
