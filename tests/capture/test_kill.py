"""1,000 sessions of 100 events: writers and replayers are killed -9 at random instants while they run, and nothing is
lost, nothing is there twice.
"""

import os
import random
import signal
import sqlite3
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from overdeck.capture import spool, store
from overdeck.capture.replay import replay
from overdeck.dispatch import observing
from overdeck.dispatch.plan import Native
from overdeck.dispatch.planning import SPOOL_BYTES
from overdeck.errors import OverdeckError

SESSIONS = 1000
EVENTS = 100
WRITERS = 4
SHARE = 2_500
"""Events that one process appends; it is killed somewhere in the first half of them, however fast the machine is."""
REPLAY_S = (*[0.05] * 9, 2.0)
"""Within which a replay is killed; some get the time to end."""
FIELDS = ["id", "event", "tool", "session", "sub", "in"]


def event_of(number: int) -> str:
    """The events of one session: it starts, works, ends turns, ends."""
    return {0: "SessionStart", 99: "SessionEnd"}.get(number, "Stop" if number % 12 == 0 else "PostToolUse")


class Writer:
    """One of the processes that append as the front does. It writes down what it has appended when it has; killed, it
    goes on behind the one that may or may not have arrived.
    """

    def __init__(self, state: Path, sessions: list[int], chance: random.Random) -> None:
        self.chance = chance
        self.spool = Native(FIELDS, SPOOL_BYTES, str(spool.folder_of(state) / spool.CURRENT))
        self.events = [(session, number) for session in sessions for number in range(EVENTS)]
        self.said = state / f"said-{sessions[0]}"
        self.said.touch()
        self.at = 0
        self.certain: set[tuple[int, int]] = set()
        self.doubtful: set[tuple[int, int]] = set()
        self.pid = 0
        self.hit = 0

    @property
    def doomed(self) -> bool:
        """Whether it has come as far as it may."""
        return self.said.stat().st_size - len(self.certain) >= self.doom

    def start(self) -> None:
        self.doom = self.chance.randrange(SHARE // 2)
        self.pid = os.fork()
        if self.pid:
            return
        try:
            said = os.open(self.said, os.O_WRONLY | os.O_APPEND)
            for session, number in self.events[self.at : self.at + SHARE]:
                call = {
                    "event": event_of(number),
                    "tool": f"t{number}",
                    "session": f"s{session}",
                    "sub": False,
                    "in": 9,
                }
                observing.observe("capture", self.spool, call, {})
                os.write(said, b"+")
        finally:
            os._exit(0)

    def ended(self, *, kill: bool = False) -> bool:
        """Whether its process is over, killed now if asked; then it is known what arrived for certain."""
        if kill:
            os.kill(self.pid, signal.SIGKILL)
        pid, status = os.waitpid(self.pid, 0 if kill else os.WNOHANG)
        if not pid:
            return False
        done = self.said.stat().st_size - len(self.certain)
        self.certain |= set(self.events[self.at : self.at + done])
        self.at += done
        if os.WIFSIGNALED(status):
            self.hit += 1
            self.doubtful |= set(self.events[self.at : self.at + 1])
            self.at += 1
        self.pid = 0
        return True


def started_replay(state: Path) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            replay(state, keep_days=30, now=datetime.now(UTC), patience_s=0.2)
        except OverdeckError:
            pass  # another is at work
        finally:
            os._exit(0)
    return pid


def test_killed_writers_and_killed_replayers_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    chance = random.Random(11)
    spool.folder_of(tmp_path).mkdir(parents=True)
    writers = [Writer(tmp_path, list(range(first, SESSIONS, WRITERS)), chance) for first in range(WRITERS)]
    for writer in writers:
        writer.start()

    def replaying() -> tuple[int, float]:
        return started_replay(tmp_path), time.monotonic() + chance.choice(REPLAY_S) * chance.random()

    running, replays_hit, replays_over = [replaying(), replaying()], 0, 0
    while any(writer.pid for writer in writers):
        time.sleep(0.0005)  # a look a moment, and the processor to those who are looked at
        for writer in writers:
            if writer.pid and writer.ended(kill=writer.doomed) and writer.at < len(writer.events):
                writer.start()
        for slot, (pid, until) in enumerate(running):
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
            over, status = os.waitpid(pid, os.WNOHANG)
            if over:
                replays_hit += os.WIFSIGNALED(status)
                replays_over += not os.WIFSIGNALED(status)
                running[slot] = replaying()
    for pid, _ in running:
        os.waitpid(pid, 0)
    writers_hit = sum(writer.hit for writer in writers)
    print(f"killed while they ran: {writers_hit} writers, {replays_hit} replays; {replays_over} replays ended")
    assert writers_hit >= 50 and replays_hit >= 20

    replay(tmp_path, keep_days=30, now=datetime.now(UTC))
    assert spool.sealed(spool.folder_of(tmp_path)) == [], "with no writer left nothing stays spooled"
    again = replay(tmp_path, keep_days=30, now=datetime.now(UTC))
    assert again.taken.new == 0
    certain = {event for writer in writers for event in writer.certain}
    doubtful = {event for writer in writers for event in writer.doubtful}
    assert len(certain) + len(doubtful) == SESSIONS * EVENTS
    kept = sqlite3.connect(store.path_of(tmp_path))
    found = Counter(
        (int(session[1:]), int(tool[1:])) for session, tool in kept.execute("SELECT session, tool FROM events")
    )
    assert [event for event, times in found.items() if times > 1] == [], "twice"
    assert certain - set(found) == set(), "lost"
    assert set(found) <= certain | doubtful
    assert kept.execute("SELECT count(*) FROM damaged").fetchone() == (0,)
    summed = kept.execute(
        "SELECT number FROM batches WHERE events != (SELECT count(*) FROM events WHERE batch = number)"
    )
    assert summed.fetchall() == [], "a batch holds what it says it holds"
