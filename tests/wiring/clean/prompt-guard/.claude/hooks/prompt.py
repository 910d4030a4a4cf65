#!/usr/bin/env python3
import datetime
import json
import re
import sys

data = json.load(sys.stdin)
prompt = data.get("prompt", "")
if re.search(r"(?i)\b(password|secret|api[_-]?key)\s*[:=]", prompt):
    print(json.dumps({"decision": "block", "reason": "The prompt seems to hold a secret. Say it without."}))
    sys.exit(0)

print(
    json.dumps(
        {
            "hookSpecificOutput": {
                "hookEventName": "UserPromptSubmit",
                "additionalContext": f"Current time: {datetime.datetime.now().isoformat()}",
            }
        }
    )
)
