"""What a probe brings back from the namespace: sessions and fires, as JSON and as what is judged."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.probe.mock.wire import strings
from overdeck.probe.session import Session

SETTLED_S = 5.0
"""For a hook that is at work when its client ends; the shipped ones have a shorter deadline or are killed by it."""


class Told(NamedTuple):
    """A call of the model and what it was told of it; ``text`` is None where it was told nothing."""

    id: str
    tool: str
    input: Any
    text: str | None


class Fire(NamedTuple):
    """One start of a hook by the client. ``wall_s`` is None where the client killed it first; ``not_started`` is why
    its program did not start."""

    hook: int
    at: float
    payload: Mapping[str, Any]
    wall_s: float | None
    code: int
    stdout: str
    stderr: str
    not_started: str


class Played(NamedTuple):
    """One session. ``heard`` is every text that a turn told the model; ``elsewhere`` the other hosts it asked for."""

    name: str
    code: int
    ended: str
    stderr: str
    wall_s: float
    cpu_s: float
    turns: int
    told: tuple[Told, ...]
    heard: tuple[str, ...]
    elsewhere: tuple[str, ...]
    fires: tuple[Fire, ...]

    def model_heard(self, text: str) -> bool:
        """Whether ``text`` stands in anything that the model was told."""
        return any(text in said for said in self.heard)


def as_json(name: str, session: Session, records: Path) -> dict[str, Any]:
    """One session and the fires recorded in it, to cross a process boundary."""
    _settle(records)
    model = session.model
    results = model.results()
    heard = dict.fromkeys(said for turn in model.turns for said in strings(turn.document))
    return {
        "name": name,
        "code": session.code,
        "ended": session.ended,
        "stderr": session.stderr[-2000:],
        "wall_s": session.wall_s,
        "cpu_s": session.cpu_s,
        "turns": len(model.turns),
        "told": [
            (one.id, one.call.tool, one.call.input, results[one.id].text if one.id in results else None)
            for one in model.issued
        ],
        "heard": list(heard),
        "elsewhere": [one.path for one in model.requests if one.method == "CONNECT"],
        "fires": [
            _fire(file) for file in sorted(records.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        ],
    }


def from_json(raw: dict[str, Any]) -> Played:
    """The same on this side."""
    return Played(
        **{
            **raw,
            "told": tuple(Told(*one) for one in raw["told"]),
            "heard": tuple(raw["heard"]),
            "elsewhere": tuple(raw["elsewhere"]),
            "fires": tuple(Fire(*one) for one in raw["fires"]),
        }
    )


def _settle(records: Path) -> None:
    """Wait for the witnesses that outlive their client: OpenCode ends while its last hook is at work."""
    end = time.monotonic() + SETTLED_S
    while any(map(_at_work, records.glob("*.payload"))) and time.monotonic() < end:
        time.sleep(0.02)  # other processes write these files: there is nobody to wait on


def _at_work(payload: Path) -> bool:
    """Whether the witness that kept this payload is alive and has written no end yet."""
    record = payload.with_suffix(".json")
    if record.exists() and "wall_s" in json.loads(record.read_bytes()):
        return False
    try:
        os.kill(int(payload.stem.partition("-")[2]), 0)
    except OSError:
        return False
    return True


def _fire(file: Path) -> Fire:
    seen = json.loads(file.read_bytes())
    try:
        payload = json.loads(file.with_suffix(".payload").read_bytes())
    except ValueError:
        payload = {}
    return Fire(
        seen["hook"],
        seen["at"],
        payload if isinstance(payload, dict) else {},
        seen.get("wall_s"),
        seen.get("code", 0),
        seen.get("stdout", ""),
        seen.get("stderr", ""),
        seen.get("not_started", ""),
    )
