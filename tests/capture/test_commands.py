"""``overdeck capture`` as a process."""

import fcntl
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from captured import Captured, line_of
from homes import Home

from overdeck.capture import spool, store
from overdeck.errors import ExitCode


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    (home.root / ".config" / "overdeck").mkdir(parents=True)
    (home.root / ".config" / "overdeck" / "config.toml").write_text('packs = ["evidence"]\n')
    return home


@pytest.fixture
def spooled(home: Home) -> Captured:
    """Nine events of now and the end of their turn."""
    made = Captured(home.state)
    spool.folder_of(made.state).mkdir(parents=True)
    ts = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    made.write(*(line_of(number, ts=ts) for number in range(9)), line_of(9, "Stop", ts=ts))
    return made


def test_status_says_what_is_spooled_and_what_is_kept_and_changes_nothing(home: Home, spooled: Captured) -> None:
    ran = home.run("overdeck", "capture", "status")
    assert ran.code == 0 and "spooled: 10 events" in ran.out and "never replayed" in ran.out
    data = home.run("overdeck", "capture", "status", "--json").data
    assert (data["lines"], data["on"], data["full"], data["kept"]["events"]) == (10, True, False, 0)
    assert not store.path_of(home.state).exists()


def test_replay_takes_it_in_once_and_its_batches_can_be_read(home: Home, spooled: Captured) -> None:
    first = home.run("overdeck", "capture", "replay", "--json").data
    assert (first["new"], first["batches"], first["files"]) == (10, 1, 1)
    assert home.run("overdeck", "capture", "replay", "--json").data["new"] == 0
    assert "kept: 10 events, 0 of them open, 1 batch," in home.run("overdeck", "capture", "status").out
    (batch,) = home.run("overdeck", "capture", "batches", "--json").data["batches"]
    assert (batch["number"], batch["session"], batch["events"], batch["why"]) == (1, "s", 10, "events")
    assert "No batch of other has" in home.run("overdeck", "capture", "batches", "--session", "other").out
    events = home.run("overdeck", "capture", "batches", "1", "--json").data["events"]
    assert [event["event"] for event in events] == ["PostToolUse"] * 9 + ["Stop"]
    assert "PostToolUse" in home.run("overdeck", "capture", "batches", "1").out


def test_the_beginning_of_a_session_names_its_batches(home: Home, spooled: Captured) -> None:
    home.run("overdeck", "capture", "replay")
    with store.opened(store.path_of(home.state), to_write=True) as kept:
        kept._db.execute("UPDATE batches SET session = '89168429-3bfa'")
        kept._db.commit()
    found = home.run("overdeck", "capture", "batches", "--session", "89168429", "--json").data["batches"]
    assert [batch["session"] for batch in found] == ["89168429-3bfa"]
    assert home.run("overdeck", "capture", "batches", "--session", "3bfa", "--json").data["batches"] == []


def test_a_batch_that_is_not_there_is_not_found(home: Home) -> None:
    home.run("overdeck", "capture", "batches", "7", "--json").check_refused(
        ExitCode.NOT_FOUND, "no-such-batch", "no batch 7"
    )


def test_a_replay_at_work_is_busy(home: Home, spooled: Captured) -> None:
    lock = store.path_of(home.state).with_name("lock")
    lock.parent.mkdir(mode=0o700)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        home.run("overdeck", "capture", "replay", "--json").check_refused(ExitCode.BUSY, "busy", "another replay")


def test_a_store_that_is_none_is_told_in_three_parts(home: Home, spooled: Captured) -> None:
    path = store.path_of(home.state)
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"no database at all, I am afraid" * 100)
    for verb in ("status", "replay", "batches"):
        home.run("overdeck", "capture", verb, "--json").check_refused(ExitCode.USAGE, "bad-store", str(path))


@pytest.mark.parametrize("verb", ["status", "batches"])
def test_a_pipe_in_the_place_of_the_store_is_told_and_not_waited_for(
    home: Home, spooled: Captured, verb: str
) -> None:
    store.path_of(home.state).parent.mkdir()
    os.mkfifo(store.path_of(home.state))
    ran = home.run("overdeck", "capture", verb)
    assert ran.code == ExitCode.USAGE and "it is a pipe, not a file" in ran.err and "next: " in ran.err


def test_status_says_how_to_switch_it_on(home: Home) -> None:
    (home.root / ".config" / "overdeck" / "config.toml").write_text("packs = []\n")
    ran = home.run("overdeck", "capture", "status")
    assert ran.code == 0 and 'packs = ["guards", "evidence"]' in ran.out
