import json, sys
d = json.load(sys.stdin)
if "rm -rf /" in json.dumps(d["tool_input"]):
    print(json.dumps({"continue": False, "stopReason": "stopped for review", "suppressOutput": True}))
