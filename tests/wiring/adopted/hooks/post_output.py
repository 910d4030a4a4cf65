import json, sys
d = json.load(sys.stdin)
out = d.get("tool_response", {})
if isinstance(out, dict) and "hi" in out.get("stdout", ""):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {**out, "stdout": "[redacted]"}}}))
