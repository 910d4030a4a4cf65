"""Counts calls in one file, whole at every moment."""

import fcntl
import json
import sys
from pathlib import Path

STATE = Path.home() / ".cache" / "tool-counts.json"

payload = json.load(sys.stdin)
with STATE.with_suffix(".lock").open("w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    counts = json.loads(STATE.read_text()) if STATE.exists() else {}
    counts[payload["tool_name"]] = counts.get(payload["tool_name"], 0) + 1
    STATE.write_text(json.dumps(counts))
