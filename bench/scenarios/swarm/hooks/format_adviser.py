"""PostToolUse Write|Edit: trailing blanks and tabs in Python are told at once."""

import json
import re
import sys

UNTIDY = re.compile(r"[ \t]+$|^\t", re.MULTILINE)

call = json.load(sys.stdin)
given = call.get("tool_input", {})
path = given.get("file_path", "")
if path.endswith(".py") and UNTIDY.search(given.get("content") or given.get("new_string") or ""):
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PostToolUse",
                "additionalContext": f"{path} has trailing blanks or tabs: run the formatter.",
            }
        },
        sys.stdout,
    )
