import json, sys
print("checking...")
print(json.dumps({"decision": "block", "reason": "lost, there is text before"}))
