"""PreToolUse, every tool: one line a call into the user's log."""

import json
import os
import sys
import time

call = json.load(sys.stdin)
folder = os.path.join(os.path.expanduser("~"), ".claude", "logs")
os.makedirs(folder, exist_ok=True)
line = {
    "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    "session": call.get("session_id"),
    "tool": call.get("tool_name"),
    "bytes": len(json.dumps(call.get("tool_input", {}))),
}
with open(os.path.join(folder, "tools.jsonl"), "a", encoding="utf-8") as log:
    log.write(json.dumps(line) + "\n")
