"""The real front captures, the process that `replay` starts takes in, and both are killed -9 at random instants while
they run: nothing is lost, nothing is there twice.

1,000 sessions of 10 events here; a hundred events each is the measurement below (100,000 starts), and, through the
front's Python twin in processes that live longer, tests/capture/test_kill.py.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from fronts import Front

from overdeck.capture import spool, store

AT_ONCE = 4


@pytest.mark.parametrize("events", [10, pytest.param(100, marks=[pytest.mark.measure, pytest.mark.timeout(1800)])])
def test_killed_fronts_and_killed_replays_lose_nothing_and_double_nothing(
    tmp_path: Path, native_front: Path, events: int
) -> None:
    chance = random.Random(events)
    front = Front(tmp_path, native=native_front)
    front.ship("capture", "journal", "ledger")
    front.install("SessionStart", "PostToolUse", "Stop")
    certain: set[tuple[str, str]] = set()
    doubtful: set[tuple[str, str]] = set()
    running: dict[int, tuple[str, str]] = {}
    replay = subprocess.Popen(replay_argv(front), env={})
    replays_hit = replays_over = 0
    for number in range(1000 * events):
        session, nth = f"s{number % 1000}", number // 1000  # a thousand sessions side by side
        pid = started(front, session, nth, events)
        running[pid] = (session, f"t{nth}")
        if chance.random() < 0.04:
            time.sleep(chance.random() * 0.0008)  # the instant of a kill, not a wait for anything
            os.kill(pid, signal.SIGKILL)
        while len(running) >= AT_ONCE:
            reap(running, certain, doubtful)
        if chance.random() < 0.01:
            replay.kill()
        if replay.poll() is not None:
            replays_hit += replay.returncode == -signal.SIGKILL
            replays_over += replay.returncode == 0
            replay = subprocess.Popen(replay_argv(front), env={})
    while running:
        reap(running, certain, doubtful)
    replay.wait()
    print(f"killed while they ran: {len(doubtful)} fronts, {replays_hit} replays; {replays_over} replays ended")
    assert len(doubtful) >= 10 * events and replays_hit >= events

    for _ in range(2):  # the second finds nothing to do
        subprocess.run(replay_argv(front), env={}, check=True)
    assert front.errors("replay") == []
    assert list(spool.folder_of(front.state).iterdir()) == []
    kept = sqlite3.connect(store.path_of(front.state))
    found = Counter(kept.execute("SELECT session, tool FROM events"))
    assert [event for event, times in found.items() if times > 1] == [], "twice"
    assert certain - set(found) == set(), "lost"
    assert set(found) <= certain | doubtful
    assert len(certain | doubtful) == 1000 * events


def replay_argv(front: Front) -> list[str]:
    entry = str(Path(front.recipe.entry).parent.parent / "capture" / "entry.py")
    return [front.recipe.python, "-I", "-S", entry, str(front.state), "30"]


def started(front: Front, session: str, nth: int, events: int) -> int:
    """One call of the front, begun: the first event of a session is its start, the last the end of a turn."""
    event = {0: "SessionStart", events - 1: "Stop"}.get(nth, "PostToolUse")
    name = "source" if event == "SessionStart" else "tool_name"
    payload = {"session_id": session, "hook_event_name": event, name: f"t{nth}", "tool_input": {"command": "ls"}}
    read, write = os.pipe()
    os.write(write, json.dumps(payload).encode())
    os.close(write)
    argv = front.argv(event)
    pid = os.posix_spawn(argv[0], argv, {}, file_actions=[(os.POSIX_SPAWN_DUP2, read, 0)])
    os.close(read)
    return pid


def reap(
    running: dict[int, tuple[str, str]], certain: set[tuple[str, str]], doubtful: set[tuple[str, str]]
) -> None:
    """Wait for one of the fronts: it ended well and its event must be there, or it was killed and it may."""
    pid, status = os.waitpid(next(iter(running)), 0)
    (doubtful if os.WIFSIGNALED(status) else certain).add(running.pop(pid))
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
