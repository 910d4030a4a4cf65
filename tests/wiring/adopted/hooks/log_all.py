import json, os, sys, pathlib
data = json.load(sys.stdin)
log_dir = pathlib.Path(os.environ.get("CLAUDE_PROJECT_DIR", ".")) / "logs"
os.makedirs(log_dir, exist_ok=True)
log = log_dir / f"{data['hook_event_name']}.json"
entries = json.loads(log.read_text()) if log.exists() else []
entries.append({k: v for k, v in data.items() if k in ("tool_name", "hook_event_name")})
log.write_text(json.dumps(entries, indent=2))
