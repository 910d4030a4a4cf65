"""False alarms: everyday commands that no guard may hold, a third of them through the real front with every guard on.

All of them, judged by each guard in one process: tests/modules/test_attacks.py.
"""

import json
from pathlib import Path

from fronts import Front, bash

from overdeck.paths import shipped

EVERYDAY = [
    json.loads(line) for line in Path(__file__).with_name("everyday.jsonl").read_text("utf-8").splitlines() if line
]
REWRITERS = {"curl-timeout"}


def test_the_list_is_long_and_says_nothing_twice() -> None:
    assert len(EVERYDAY) >= 700
    assert len(set(EVERYDAY)) == len(EVERYDAY)


def test_no_everyday_command_is_held_by_any_guard(native_front: Path, tmp_path: Path) -> None:
    front = Front(tmp_path, native=native_front)
    front.recipe.shipped = str(shipped("modules"))
    front.install()
    held = []
    for command in EVERYDAY[::3]:
        reply = front.call(bash(command))
        assert reply.code == 0
        if reply.decision or "systemMessage" in reply.answer:
            held.append((command, reply.reason or reply.answer["systemMessage"]))
    assert held == []
    ends = {(name, ran["end"]) for line in front.calls() for name, ran in line.get("ran", {}).items()}
    assert {end for _, end in ends} <= {"none", "fire"}
    assert {name for name, end in ends if end == "fire"} <= REWRITERS
    assert {name for name, _ in ends} >= {"deny", "git-decision", "human-kill", "pids-cap", "say-the-word"}
