#!/usr/bin/env python3
import json
import shutil
import sys
from pathlib import Path

data = json.load(sys.stdin)
source = Path(data["transcript_path"])
target = Path.home() / ".claude" / "backups" / f"{data['session_id']}.jsonl"
target.parent.mkdir(parents=True, exist_ok=True)
if source.exists():
    shutil.copyfile(source, target)
