"""PreToolUse Bash: use the package manager whose lock file the project has."""

import json
import os
import re
import sys

LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "uv.lock": "uv",
    "poetry.lock": "poetry",
}
USED = re.compile(r"(?:^|[;&|]\s*)(npm|pip3?)\s+(install|i|add|ci)\b")

call = json.load(sys.stdin)
used = USED.search(call.get("tool_input", {}).get("command", ""))
if used:
    folder = call.get("cwd", "")
    wanted = [manager for lock, manager in LOCKS.items() if os.path.exists(os.path.join(folder, lock))]
    if wanted:
        json.dump(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "additionalContext": f"This project is locked by {wanted[0]}; {used.group(1)} would drift.",
                }
            },
            sys.stdout,
        )
