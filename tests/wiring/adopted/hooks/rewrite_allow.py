import json, sys
d = json.load(sys.stdin)
if "pytest" in d["tool_input"].get("command", ""):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "permissionDecisionReason": "tests are safe", "updatedInput": {**d["tool_input"], "timeout": 60000}}}))
