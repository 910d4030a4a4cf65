"""What a redraw of the status line costs: the installed command, its line kept, and made anew after a call."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from overdeck.bench import Arm, command_arm

BAR = 2.3
"""Over a bare start of the same Python, both metrics; `re`, which pip puts into every script it writes, is 0.5."""

SESSION = "9251e759-bc01-4ea0-8d4c-a2dc5f3f42f9"


def rows(folder: Path) -> Iterator[tuple[str, Arm, Arm, bytes]]:
    """What is measured, the bare start, the redraw, and the payload of it. The log holds 500 calls."""
    home = folder / "statusline"
    log = home / ".local" / "state" / "overdeck" / "hook-calls.jsonl"
    log.parent.mkdir(parents=True)
    call = {"ts": "2026-11-30T12:00:00.000Z", "v": 1, "plan": "0", "client": "claude", "event": "PreToolUse",
            "tool": "Bash", "session": SESSION, "sub": False, "in": 900, "out": 0, "us": 900, "ran": {}}  # fmt: skip
    log.write_text((json.dumps(call) + "\n") * 500)
    line = log.with_name("line")
    line.write_text(json.dumps(call) + "\n")
    payload = json.dumps({
        "session_id": SESSION, "cwd": str(home), "model": {"id": "m", "display_name": "Opus 4.8 (1M context)"},
        "workspace": {"current_dir": str(home), "project_dir": str(home)}, "version": "2.1.197",
    }).encode()  # fmt: skip
    bare = [sys.executable, "-c", "pass"]
    redraw = [str(Path(sys.executable).with_name("overdeck")), "statusline"]
    changed = ["sh", "-c", f'cat "{line}" >>"{log}"; exec "$@"', "sh"]

    def arm(name: str, argv: list[str]) -> Arm:
        return replace(command_arm(name, argv), home=home, cwd=home)

    yield (
        "`overdeck statusline`, nothing changed / `python3 -c pass`",
        arm("bare", bare),
        arm("kept", redraw),
        payload,
    )
    yield (
        "`overdeck statusline` after each call / the same change and `python3 -c pass`",
        arm("bare", [*changed, *bare]), arm("anew", [*changed, *redraw]), payload,
    )  # fmt: skip
