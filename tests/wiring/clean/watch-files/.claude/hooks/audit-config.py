import json
import sys
import time
from pathlib import Path

data = json.load(sys.stdin)
line = json.dumps({"at": time.time(), "source": data.get("source"), "file": data.get("file_path")})
with (Path.home() / "claude-config-audit.log").open("a") as log:
    log.write(line + "\n")
if data.get("source") == "policy_settings":
    sys.exit(0)
if "hooks" in data.get("file_path", ""):
    print(json.dumps({"decision": "block", "reason": "Changes of hooks are reviewed first."}))
