import json, re, sys
d = json.load(sys.stdin)
if re.search(r"(?i)\b(password|secret)\s*[:=]", d["prompt"]):
    print(json.dumps({"decision": "block", "reason": "Security policy violation: remove the secret"}))
sys.exit(0)
