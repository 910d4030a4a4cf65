"""PreToolUse Bash: a curl without a deadline can hold a session for ever, so it gets one."""

import json
import re
import sys

CURL = re.compile(r"(?<![\w/-])curl(?=\s)")

call = json.load(sys.stdin)
given = call.get("tool_input", {})
command = given.get("command", "")
if CURL.search(command) and "--max-time" not in command and " -m " not in command:
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "updatedInput": {**given, "command": CURL.sub("curl --max-time 60", command)},
            }
        },
        sys.stdout,
    )
