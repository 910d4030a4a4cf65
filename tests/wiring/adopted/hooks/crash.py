import json, sys
data = json.load(sys.stdin)
print(data["no_such_key"])
