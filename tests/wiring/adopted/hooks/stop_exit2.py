import json, sys
if json.load(sys.stdin)["stop_hook_active"]:
    sys.exit(0)
sys.stderr.write("cat: x: No such file or directory\n")
sys.exit(2)
