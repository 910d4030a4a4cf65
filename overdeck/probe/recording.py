"""The payloads that a client really sent, without what tells of this machine: ``probe --record``."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from overdeck.files import write_atomically
from overdeck.probe.facts import Fire

HOME, PROJECT = "/home/dev", "/home/dev/proj"
"""What the throwaway folders are called in a recording."""

_RECORDER = Path(__file__).with_name("clients") / "recorder.js"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NO_UUID = "00000000-0000-4000-8000-000000000000"


def redacted(value: Any, folders: Mapping[str, str]) -> Any:
    """A payload with every folder of ``folders`` called by its other name, and every UUID zero.

    >>> redacted({"cwd": "/tmp/x/project/a"}, {"/tmp/x/project": "/home/dev/proj"})
    {'cwd': '/home/dev/proj/a'}
    """
    if isinstance(value, dict):
        return {key: redacted(inner, folders) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(inner, folders) for inner in value]
    if not isinstance(value, str):
        return value
    for real, other in folders.items():
        value = value.replace(real, other).replace(_slug(real), _slug(other))
    return _UUID.sub(_NO_UUID, value)


def _slug(path: str) -> str:
    """What Claude Code calls a project's folder below ``~/.claude/projects``."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


_KINDS = ("tool_name", "source", "reason", "trigger", "notification_type", "error")


def name_of(payload: Mapping[str, Any]) -> str:
    """``EVENT``, ``EVENT.TOOL`` or ``EVENT.SOURCE``, and ``.insubagent`` for a call made in one."""
    parts = [str(payload.get("hook_event_name", "unknown"))]
    parts += [str(payload[key]) for key in _KINDS if payload.get(key)][:1]
    parts += ["insubagent"] if payload.get("agent_id") and "tool_name" in payload else []
    return ".".join(re.sub(r"[^A-Za-z0-9_]", "_", part) for part in parts)


def payloads(fires: Iterable[Fire], records: Path) -> list[tuple[str, Any]]:
    """(name, payload) of all that was kept in one session: by witnesses, and by OpenCode's recorder."""
    found: list[tuple[str, Any]] = [(name_of(fire.payload), dict(fire.payload)) for fire in fires]
    return found + [(file.stem, json.loads(file.read_bytes())) for file in sorted(records.glob("*.opencode"))]


def put_plugin(folder: Path, records: Path) -> None:
    """Let OpenCode itself keep what it hands to plugins: it starts no program for it."""
    folder.mkdir(parents=True, exist_ok=True)
    text = _RECORDER.read_text("utf-8").replace('"FOLDER"', json.dumps(str(records)))
    (folder / "overdeck-recorder.js").write_text(text)


def write(kept: Iterable[tuple[str, Any]], folder: Path) -> list[Path]:
    """One file for each kind of payload, the first of its kind; returns those written. Raises OSError."""
    written: dict[Path, None] = {}
    for name, payload in kept:
        file = folder / f"{name}.json"
        if file not in written:
            write_atomically(file, json.dumps(payload, ensure_ascii=False).encode() + b"\n")
            written[file] = None
    return list(written)
