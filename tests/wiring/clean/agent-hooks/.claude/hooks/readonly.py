import json
import re
import sys

command = json.load(sys.stdin)["tool_input"]["command"]
if re.search(r"\b(INSERT|UPDATE|DELETE|DROP|CREATE|ALTER|TRUNCATE)\b", command, re.IGNORECASE):
    sys.stderr.write("Blocked: Write operations not allowed. Use SELECT queries only.\n")
    sys.exit(2)
sys.exit(0)
