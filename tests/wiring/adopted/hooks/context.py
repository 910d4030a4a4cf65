import json, sys
prompt = json.load(sys.stdin).get("prompt", "")
if len(prompt) % 2 == 0:
    print("Project context: tests live in tests/, run them with ./dev test")
else:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "odd prompt"}}))
