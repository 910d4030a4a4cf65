"""Every third call a reminder: state in a file under HOME."""
import json
import os
import sys
from pathlib import Path

state = Path.home() / ".claude" / "state" / "count.json"
state.parent.mkdir(parents=True, exist_ok=True)
count = json.loads(state.read_text())["n"] if state.exists() else 0
state.write_text(json.dumps({"n": count + 1, "tool": json.load(sys.stdin)["tool_name"]}))
if count % 3 == 2:
    print(json.dumps({"systemMessage": f"call {count} in {os.path.basename(os.getcwd())}"}))
