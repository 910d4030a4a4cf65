"""PreToolUse Write|Edit: lock files are written by their tools."""

import json
import os
import sys

LOCKS = {
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "uv.lock",
    "poetry.lock",
    "Cargo.lock",
    "go.sum",
}

call = json.load(sys.stdin)
name = os.path.basename(call.get("tool_input", {}).get("file_path", ""))
if name in LOCKS:
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": f"{name} is generated: change the manifest and run its tool.",
            }
        },
        sys.stdout,
    )
