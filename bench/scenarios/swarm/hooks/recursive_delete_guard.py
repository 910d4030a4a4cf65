"""PreToolUse Bash: rm -r of a root, a home or a whole glob is never what was meant."""

import json
import re
import shlex
import sys

FATAL = {
    "/",
    "/*",
    "~",
    "~/",
    "~/*",
    "$HOME",
    "$HOME/",
    "${HOME}",
    ".",
    "./",
    "..",
    "*",
    "/home",
    "/etc",
    "/usr",
    "/var",
}

call = json.load(sys.stdin)
command = call.get("tool_input", {}).get("command", "")
for part in re.split(r"[;&|\n]+", command):
    try:
        words = shlex.split(part)
    except ValueError:
        words = part.split()
    if "rm" not in words:
        continue
    after = words[words.index("rm") + 1 :]
    flags = "".join(word for word in after if word.startswith("-"))
    targets = [word for word in after if not word.startswith("-")]
    if ("r" in flags or "R" in flags) and FATAL.intersection(targets):
        json.dump(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": f"rm -r of {', '.join(targets)} refused: name the one folder.",
                }
            },
            sys.stdout,
        )
        break
