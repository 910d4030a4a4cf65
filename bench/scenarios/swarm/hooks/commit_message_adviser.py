"""PreToolUse Bash: a commit subject that says nothing gets a word of advice."""

import json
import re
import sys

SUBJECT = re.compile(r"\bgit\s+commit\b[^|;&]*-[a-z]*m\s+(\"([^\"]*)\"|'([^']*)')")
EMPTY = re.compile(r"^(wip|fix|fixes|update|updates|changes|misc|stuff|tmp|test)\.?$", re.IGNORECASE)

call = json.load(sys.stdin)
found = SUBJECT.search(call.get("tool_input", {}).get("command", ""))
if found:
    lines = (found.group(2) or found.group(3) or "").splitlines()
    subject = lines[0].strip() if lines else ""
    if EMPTY.match(subject) or len(subject) > 72:
        json.dump(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "additionalContext": "A commit subject says what changed and why, in at most 72 characters.",
                }
            },
            sys.stdout,
        )
