"""Formats the file that was written and tells the model of what it found."""
import json, os, sys
d = json.load(sys.stdin)
path = d["tool_input"].get("file_path", "")
if path.endswith((".py", ".txt")) and os.path.exists(path):
    with open(path) as f:
        text = f.read()
    fixed = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    if fixed != text:
        open(path, "w").write(fixed)
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": f"{len(text)} characters checked"}}))
elif path:
    print(json.dumps({"decision": "block", "reason": f"{os.path.basename(path)} was not formatted"}))
