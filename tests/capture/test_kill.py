"""1,000 sessions of 100 events: writers and replayers are killed -9 at random instants while they run, and nothing is
lost, nothing is there twice.
"""

import os
import random
import signal
import sqlite3
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
"""At least: further sessions follow until enough have been killed, whatever the machine's speed."""
EVENTS = 100
WRITERS = 4
WRITER_S = 0.015
"""Within how much of its own processor time a writer is killed."""
REPLAY_S = (*[0.05] * 9, 2.0)
"""Within which a replay is killed: it waits for the disk most of the time. Some get the time to end."""
WRITERS_HIT, REPLAYS_HIT = 50, 20
FIELDS = ["id", "event", "tool", "session", "sub", "in"]


def event_of(number: int) -> str:
    """The events of one session: it starts, works, ends turns, ends."""
    return {0: "SessionStart", 99: "SessionEnd"}.get(number, "Stop" if number % 12 == 0 else "PostToolUse")


def doomed(timer: int, within_s: float) -> None:
    """End this process at an instant of ``timer`` as SIGKILL would: the signal is left to the kernel, nothing of the
    process runs after it. A killer that has to wait for a processor itself comes too late or too early.
    """
    signal.signal({signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}[timer], signal.SIG_DFL)
    signal.setitimer(timer, max(1e-6, within_s))


class Writer:
    """One of the processes that append as the front does. It writes down what it has appended when it has; killed, it
    goes on behind the one that may or may not have arrived.
    """

    def __init__(self, state: Path, first: int) -> None:
        self.spool = Native(FIELDS, SPOOL_BYTES, str(spool.folder_of(state) / spool.CURRENT))
        self.sessions = first, WRITERS
        self.said = state / f"said-{first}"
        self.said.touch()
        self.doubtful: set[tuple[int, int]] = set()
        self.at = self.hit = 0

    def event(self, at: int) -> tuple[int, int]:
        """Session and number of the event that is the writer's ``at``-th."""
        first, step = self.sessions
        return first + step * (at // EVENTS), at % EVENTS

    def certain(self) -> set[tuple[int, int]]:
        return {self.event(at) for at in range(self.at)} - self.doubtful

    def start(self, within_s: float) -> int:
        pid = os.fork()
        if pid:
            return pid
        try:
            said = os.open(self.said, os.O_WRONLY | os.O_APPEND)
            doomed(signal.ITIMER_PROF, within_s)
            for at in range(self.at, SESSIONS // WRITERS * EVENTS + self.at):
                session, number = self.event(at)
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

    def ended(self, status: int) -> None:
        """Its process is over: what it said has arrived for certain, the next may have where it was killed."""
        self.at = self.said.stat().st_size + len(self.doubtful)
        if os.WIFSIGNALED(status):
            self.hit += 1
            self.doubtful.add(self.event(self.at))
            self.at += 1


def started_replay(state: Path, within_s: float) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            doomed(signal.ITIMER_REAL, within_s)
            replay(state, keep_days=30, now=datetime.now(UTC), patience_s=0.2)
        except OverdeckError:
            pass  # another is at work
        finally:
            os._exit(0)
    return pid


def test_killed_writers_and_killed_replayers_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    chance = random.Random(11)
    spool.folder_of(tmp_path).mkdir(parents=True)
    writers = [Writer(tmp_path, first) for first in range(WRITERS)]

    def replaying() -> int:
        return started_replay(tmp_path, chance.choice(REPLAY_S) * chance.random())

    def unfinished(writer: Writer) -> bool:
        hit = sum(each.hit for each in writers)
        return writer.at < SESSIONS // WRITERS * EVENTS or hit < WRITERS_HIT or replays_hit < REPLAYS_HIT

    writing = {writer.start(WRITER_S * chance.random()): writer for writer in writers}
    replays, replays_hit, replays_over = {replaying(), replaying()}, 0, 0
    while writing or replays:
        pid, status = os.wait()
        if writer := writing.pop(pid, None):
            writer.ended(status)
            if unfinished(writer):
                writing[writer.start(WRITER_S * chance.random())] = writer
        else:
            replays.remove(pid)
            replays_hit += os.WIFSIGNALED(status)
            replays_over += not os.WIFSIGNALED(status)
            if writing:
                replays.add(replaying())
    writers_hit = sum(writer.hit for writer in writers)
    print(f"killed while they ran: {writers_hit} writers, {replays_hit} replays; {replays_over} replays ended")
    assert writers_hit >= WRITERS_HIT and replays_hit >= REPLAYS_HIT

    replay(tmp_path, keep_days=30, now=datetime.now(UTC))
    assert spool.sealed(spool.folder_of(tmp_path)) == [], "with no writer left nothing stays spooled"
    again = replay(tmp_path, keep_days=30, now=datetime.now(UTC))
    assert again.taken.new == 0
    certain = set().union(*(writer.certain() for writer in writers))
    doubtful = set().union(*(writer.doubtful for writer in writers))
    assert len(certain) + len(doubtful) >= SESSIONS * EVENTS
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
