import json, sys, __main__
def verdict():
    d = json.load(sys.stdin)
    if "shadow" in d["tool_input"].get("command", ""):
        print(json.dumps({"decision": "block", "reason": f"helper of {__main__.__name__}"}))
