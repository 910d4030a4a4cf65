"""PreToolUse Bash|Read|Write|Edit: key files and .env stay out of the model's sight."""

import json
import os
import re
import sys

SECRET = re.compile(
    r"(^|[\s/'\"=<])(\.env(\.(?!example|sample)\w+)?|id_(rsa|ed25519|ecdsa)|\.netrc|credentials\.json|[\w.-]+\.pem)(?=$|[\s'\";|&>)])"
)

call = json.load(sys.stdin)
given = call.get("tool_input", {})
text = given.get("command") or os.path.basename(given.get("file_path", ""))
found = SECRET.search(text)
if found:
    json.dump(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": f"{found.group(2)} holds secrets: name the variable you need instead.",
            }
        },
        sys.stdout,
    )
