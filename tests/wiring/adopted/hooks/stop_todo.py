import json, sys
d = json.load(sys.stdin)
if not d.get("stop_hook_active"):
    print(json.dumps({"decision": "block", "reason": "run the tests before you stop"}))
