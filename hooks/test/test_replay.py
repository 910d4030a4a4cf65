"""The module replay through the front: when it takes the spool into the store, and that nobody waits for it."""

import fcntl
import json
import sqlite3
import time

from evidenced import STARTED, switch_on, used, written
from fronts import Front, recorded
from waiting import until

from overdeck.capture import spool, store


def kept(front: Front) -> list[str]:
    path = store.path_of(front.state)
    if not path.exists():
        return []
    try:
        with sqlite3.connect(path) as connection:
            return [session for (session,) in connection.execute("SELECT session FROM events ORDER BY ts")]
    except sqlite3.DatabaseError:
        return []


def test_a_session_start_sets_off_a_replay_that_finds_its_own_line(front: Front) -> None:
    switch_on(front, "SessionStart", "PostToolUse", "Stop")
    front.call(used(session="before"))
    assert front.call(STARTED).stdout == ""
    until(lambda: kept(front) == ["before", "s"])
    until(lambda: not spool.sealed(spool.folder_of(front.state)))


def test_the_end_of_a_turn_replays_only_where_it_is_worth_it(front: Front) -> None:
    switch_on(front, "SessionStart", "PostToolUse", "Stop")
    stop = {"hook_event_name": "Stop", "session_id": "s"}
    front.call(stop)
    for _ in range(6):
        front.call(used())
    path = spool.folder_of(front.state) / spool.CURRENT
    assert len(path.read_text().splitlines()) == 7 and not store.path_of(front.state).exists()
    front.call(stop)
    until(lambda: len(kept(front)) == 8)


def test_an_old_line_makes_the_end_of_a_turn_worth_it(front: Front) -> None:
    switch_on(front, "SessionStart", "PostToolUse", "Stop")
    path = spool.folder_of(front.state) / spool.CURRENT
    path.write_text(json.dumps({"ts": "2026-01-01T00:00:00.000Z", "id": "0" * 32, "event": "x"}) + "\n")
    front.call({"hook_event_name": "Stop", "session_id": "s"})
    until(lambda: kept(front) == ["s"])  # the old one is beyond keep_days


def test_nothing_waits_for_a_replay_that_hangs(front: Front) -> None:
    switch_on(front, "SessionStart", "PostToolUse", "Stop")
    front.call(used())
    lock = store.path_of(front.state).with_name("lock")
    lock.parent.mkdir(mode=0o700)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = time.monotonic()
        assert front.call(STARTED).stdout == ""
        assert time.monotonic() - started < 4, "the replay itself has 5 s of patience"
        assert kept(front) == []
    until(lambda: kept(front) == ["s", "s"])


def test_a_store_that_cannot_be_used_is_an_error_of_the_replay_and_of_nothing_else(front: Front) -> None:
    switch_on(front, "SessionStart", "PostToolUse", "Stop")
    path = store.path_of(front.state)
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"this is no database, and long enough to be told so" * 100)
    front.call(used())
    assert front.call(STARTED).stdout == ""
    until(lambda: front.errors("replay") != [])
    assert "cannot be used" in front.errors("replay")[0]["cause"]
    assert len(written(front, "capture")) == 2, "what is spooled stays"


def test_with_nothing_spooled_nothing_is_started(front: Front) -> None:
    switch_on(front, "SessionStart", "Stop", ids=("replay",))
    assert front.call(recorded("claude-code/Stop")).stdout == ""
    assert front.call(STARTED).stdout == ""
    assert not store.path_of(front.state).parent.exists()
