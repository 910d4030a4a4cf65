"""Stop: a turn does not end while its own background commands run; said once, never in a loop."""

import json
import sys

call = json.load(sys.stdin)
running = [
    task.get("command", "?") for task in call.get("background_tasks", []) if task.get("status") == "running"
]
if running and not call.get("stop_hook_active"):
    json.dump(
        {"decision": "block", "reason": f"Still running: {'; '.join(running)}. Wait for it or stop it."},
        sys.stdout,
    )
