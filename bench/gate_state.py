"""What the scenarios of bench/gate.toml find in their HOME, the same on both sides: logs of a week, open incidents.

    gate_state.py logs HOME              what the fleet logged, and in HOME/tick what it logs until the next tick
    gate_state.py incidents REGISTRY     a log of incidents in a registry that is there

Lines are written in the frozen formats, not by the side's own code: both sides must read the same bytes.
"""

import hashlib
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

CALLS = 3000
CALLS_A_TICK = 20
FIRES_A_CALL = 0.1
INCIDENTS = 300
_START = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=6)
_MODULES = ("git-decision", "secret-file", "curl-timeout")


def logs(home: Path) -> None:
    """Fill the state directory below ``home``, and ``home/tick`` with the lines that each tick gains."""
    state = home / ".local" / "state" / "overdeck"
    state.mkdir(parents=True, mode=0o700)
    (state / "hook-calls.jsonl").write_text("".join(map(_call, range(CALLS))), "utf-8")
    (state / "hook-fires.jsonl").write_text("".join(map(_fire, range(int(CALLS * FIRES_A_CALL)))), "utf-8")
    (home / "tick").write_text("".join(map(_call, range(CALLS, CALLS + CALLS_A_TICK))), "utf-8")


def incidents(registry: Path) -> None:
    """Give ``registry`` a log of INCIDENTS that are open."""
    lines = [_opened(number) for number in range(1, INCIDENTS + 1)]
    (registry / "log" / "gate-0123456789.jsonl").write_bytes(b"\n".join(lines) + b"\n")


def _call(number: int) -> str:
    ran = {name: {"us": 900 + number % 300, "bytes": 0, "end": "none"} for name in _MODULES}
    facts = {"v": 1, "plan": "0123abcd", "client": "claude", "event": "PreToolUse", "tool": "Bash"}
    rest = {
        "session": f"s{number // 50}",
        "sub": False,
        "in": 480,
        "out": 0,
        "us": 21000 + number % 5000,
        "ran": ran,
    }
    return json.dumps({"ts": _at(number), **facts, **rest}) + "\n"


def _fire(number: int) -> str:
    module = _MODULES[number % len(_MODULES)]
    return json.dumps({"ts": _at(number * 10), "event": "PreToolUse", "module": module, "action": "deny"}) + "\n"


def _opened(number: int) -> bytes:
    facts = {"v": 1, "kind": "opened", "lamport": number, "at": _at(number), "writer": "gate-0123456789"}
    named = {"prefix": "GATE", "digits": 6, "class": "hook-timeout", "class_id": "C033"}
    said = {"fingerprint": f"hook {number}", "title": f"hook {number} ran into its timeout"}
    rest = json.dumps({**facts, **named, **said}, separators=(",", ":")).encode()[1:]
    return b'{"id":"' + hashlib.sha256(rest).hexdigest()[:32].encode() + b'",' + rest


def _at(number: int) -> str:
    return (_START + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    {"logs": logs, "incidents": incidents}[sys.argv[1]](Path(sys.argv[2]))
