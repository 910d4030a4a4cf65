import json, sys
d = json.load(sys.stdin)
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": ("é" * 99 + "\n") * 95}}, ensure_ascii=False))
