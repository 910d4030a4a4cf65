import json, sys
call = json.load(sys.stdin)
if "git push" in call["tool_input"].get("command", ""):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",
                                             "permissionDecisionReason": "push: are you sure?"}}))
