"""PreToolUse Write|Edit: an edit of a generated file is lost at the next build."""

import json
import re
import sys

GENERATED = re.compile(r"(^|/)(dist|build|node_modules|__generated__|\.venv)/|\.(min\.js|pb2?\.(py|go))$")

call = json.load(sys.stdin)
path = call.get("tool_input", {}).get("file_path", "")
if GENERATED.search(path):
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "additionalContext": f"{path} looks generated: find its source.",
            }
        },
        sys.stdout,
    )
