import json, sys
call = json.load(sys.stdin)
command = call["tool_input"].get("command", "")
if "sudo" in command:
    print(json.dumps({"decision": "block", "reason": "no sudo"}))
elif command.startswith("npm"):
    print(json.dumps({"decision": "approve", "reason": "npm is fine"}))
