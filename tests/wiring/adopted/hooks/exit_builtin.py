import json, sys
d = json.load(sys.stdin)
if "sudo" in d["tool_input"].get("command", ""):
    exit("a text is exit code 1")
quit()
