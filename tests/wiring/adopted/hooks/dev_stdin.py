import json
try:
    data = json.load(open("/dev/stdin"))
except OSError as e:
    raise SystemExit(f"cannot open: {e.strerror}")
