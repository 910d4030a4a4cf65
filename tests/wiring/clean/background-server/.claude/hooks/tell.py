import json
import subprocess
import sys
import urllib.error
import urllib.request

payload = sys.stdin.buffer.read()
request = urllib.request.Request("http://127.0.0.1:8123/hooks", data=payload, method="POST")
try:
    urllib.request.urlopen(request, timeout=1).close()
except (urllib.error.URLError, TimeoutError):
    subprocess.Popen(
        ["logger", "no hook server"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
tool = json.loads(payload).get("tool_name")
if tool == "Bash":
    print(json.dumps({"suppressOutput": True}))
