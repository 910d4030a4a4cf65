"""What 28 modules cost in Claude Code itself, beside no hooks and the same logic as 28 Python hooks: whole client runs.

The client is run in a throwaway HOME, against a mock model, with nothing but loopback. Each of the ten calls is a Read,
the tool that starts no process itself: beside another the hooks would look cheaper.
"""

import json
import math
import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import fleets

from overdeck.bench.statistics import Ratio, ratio
from overdeck.probe import loopback
from overdeck.probe.clients import named
from overdeck.probe.mock.script import Reply, Script
from overdeck.probe.room import Room
from overdeck.probe.session import find, play

CALLS, HOOKS, PAIRS = 10, 28, 11
MOST_CPU = 1.10
"""DESIGN, "The numbers to reach"."""
TOOL = "Read"


class Cost(NamedTuple):
    """What one session took, in seconds: the client and all it waited for."""

    cpu: float
    wall: float


class Costs(NamedTuple):
    """Sessions side by side: (no hooks, modules) a pair, and (no hooks, Python hooks)."""

    modules: tuple[tuple[Cost, Cost], ...]
    hooks: tuple[tuple[Cost, Cost], ...]
    asked: int
    """Calls that the dispatcher was asked about."""

    def ratio(self, arm: str, metric: str) -> Ratio:
        """``modules`` or ``hooks`` over no hooks, ``cpu`` or ``wall``; needs six pairs at least."""
        return ratio([math.log(each) for each in self.ratios(arm, metric)])

    def ratios(self, arm: str, metric: str) -> list[float]:
        """The same, a ratio a pair."""
        return [getattr(other, metric) / getattr(none, metric) for none, other in getattr(self, arm)]


def found(environ: Mapping[str, str]) -> str | None:
    """Claude Code: the one pinned for the tests where ``OVERDECK_CLIENTS`` names their cache, else the one on PATH."""
    cache = environ.get("OVERDECK_CLIENTS")
    kept = sorted(Path(cache).glob("claude-*/bin/claude")) if cache else []
    return str(kept[-1]) if kept else find(named("claude"), environ)


def measure(program: str, front: Path, folder: Path, *, pairs: int = PAIRS, hook_pairs: int = 1) -> Costs:
    """Play the pairs, in the order of a coin. Raises OverdeckError where there is no network namespace, and
    RuntimeError where a session did not go as it was scripted."""
    plans = fleets.modules(folder / "fleet", HOOKS, literals=1, tools=TOOL)
    one = {"type": "command", "command": str(front), "args": ["PreToolUse", "--plan", str(plans)]}
    settings = json.loads(fleets.hooks(folder / "hooks", HOOKS).read_text())
    many = settings["hooks"]["PreToolUse"][0]["hooks"]
    arms = {"none": [], "modules": [one], "hooks": many}
    rooms = {name: _room(folder / name, hooks) for name, hooks in arms.items()}

    def work() -> dict[str, Any]:
        for name in ("none", "modules"):  # whatever is made once
            _session(program, rooms[name])
        return {
            "modules": [_pair(program, rooms, "modules") for _ in range(pairs)],
            "hooks": [_pair(program, rooms, "hooks") for _ in range(hook_pairs)],
        }

    seen, _ = loopback.apart(work, allow_network=False)
    calls = (folder / "fleet" / "state" / "hook-calls.jsonl").read_text().splitlines()
    asked = sum(json.loads(line)["tool"] == TOOL for line in calls)
    return Costs(_costs(seen["modules"]), _costs(seen["hooks"]), asked)


def _costs(raw: Sequence[Any]) -> tuple[tuple[Cost, Cost], ...]:
    return tuple((Cost(*none), Cost(*other)) for none, other in raw)


def _room(folder: Path, hooks: list[dict[str, Any]]) -> Room:
    room = Room.make(folder)
    file = named("claude").settings_file(room.home)
    file.parent.mkdir()
    groups = [{"matcher": TOOL, "hooks": hooks}] if hooks else []
    file.write_text(json.dumps({"hooks": {"PreToolUse": groups}}))
    return room


def _pair(program: str, rooms: Mapping[str, Room], other: str) -> tuple[Cost, Cost]:
    order = random.sample(["none", other], 2)
    ran = {name: _session(program, rooms[name]) for name in order}
    return ran["none"], ran[other]


def _session(program: str, room: Room) -> Cost:
    claude = named("claude")
    reply = Reply(calls=(claude.read(room.project / "a.txt"),))
    user = {"PATH": os.defpath, "LANG": "C.UTF-8"}
    done = play(claude, program, room, Script.of(*[reply] * CALLS), user=user)
    if (done.code, done.ended, len(done.model.turns)) != (0, "", CALLS + 1):
        raise RuntimeError(f"{program}: exit {done.code} {done.ended}, {len(done.model.turns)} requests")
    return Cost(done.cpu_s, done.wall_s)
