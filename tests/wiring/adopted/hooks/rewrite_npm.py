import json, sys
d = json.load(sys.stdin)
command = d["tool_input"].get("command", "")
if command.startswith("npm "):
    d["tool_input"]["command"] = command.replace("npm ", "pnpm ", 1)
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": d["tool_input"]}}))
