"""From the spool into the store: once each, in batches, swept when it is old."""

import fcntl
import os
import random
import runpy
import sqlite3
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import pytest
from captured import BEGIN, Captured, line_of
from disks import grown, small_disk
from hypothesis import given, settings
from hypothesis import strategies as st

from overdeck.capture import seams, spool, store
from overdeck.capture.store import Taken
from overdeck.errors import ExitCode, OverdeckError
from overdeck.paths import shipped


def test_a_line_is_taken_in_once_however_often_it_is_replayed(captured: Captured) -> None:
    lines = [line_of(number) for number in range(5)]
    captured.write(*lines)
    assert captured.replay().taken == Taken(new=5)
    captured.write(*lines, line_of(5))
    assert captured.replay().taken == Taken(new=1, known=5)
    assert captured.counted().events == 6


def test_what_was_taken_in_is_no_longer_spooled(captured: Captured) -> None:
    captured.write(line_of(1))
    assert captured.replay().files == 1
    assert list(spool.folder_of(captured.state).iterdir()) == []
    assert captured.replay() == captured.replay(), "with nothing spooled it does nothing"


def test_all_that_a_line_says_is_kept(captured: Captured) -> None:
    captured.write(
        line_of(1, tool="mcp__x__y", sub=True, cwd="/home/dév", agent="a1"), line_of(2, "SessionStart", at_s=9)
    )
    captured.replay()
    with store.opened(store.path_of(captured.state), to_write=False) as kept:
        (event,) = kept.events(1)
    assert event == (
        f"{1:032x}",
        "2026-03-01T10:00:00.000Z",
        "PostToolUse",
        "mcp__x__y",
        "s",
        True,
        9,
        "/home/dév",
        "a1",
    )


def test_the_end_of_a_turn_closes_eight_events_and_not_seven(captured: Captured) -> None:
    captured.write(*(line_of(number) for number in range(6)), line_of(6, "Stop"))
    captured.replay()
    assert captured.batches() == []
    captured.write(line_of(7, "Stop"))
    captured.replay()
    assert captured.batches() == [("s", 8, "events")]


def test_the_end_of_a_turn_closes_what_is_twenty_minutes_old(captured: Captured) -> None:
    captured.write(line_of(1), line_of(2, "Stop", at_s=1199.999))
    captured.replay()
    assert captured.batches() == []
    captured.write(line_of(3, "SessionEnd", at_s=1200))
    captured.replay()
    assert captured.batches() == [("s", 3, "age")]


def test_a_session_start_closes_all_that_is_open_of_whatever_session(captured: Captured) -> None:
    captured.write(line_of(1, session="a"), line_of(2, session="b"), line_of(3, "SessionStart", "a"))
    captured.replay()
    assert sorted(captured.batches()) == [("a", 1, "session start"), ("b", 1, "session start")]
    assert captured.counted().open == 1, "what begins is not of what it closed"


def test_no_number_of_tool_calls_closes_anything(captured: Captured) -> None:
    captured.write(*(line_of(number, at_s=number * 60) for number in range(200)))
    captured.replay()
    assert captured.batches() == []


EVENTS = st.tuples(
    st.sampled_from(["PostToolUse"] * 6 + ["Stop", "Stop", "SessionEnd", "SessionStart"]),
    st.sampled_from("abc"),
    st.integers(0, 900),
)


@settings(max_examples=15)
@given(events=st.lists(EVENTS, max_size=60), cuts=st.lists(st.integers(0, 60), max_size=2), twice=st.booleans())
def test_when_it_is_replayed_changes_no_batch(
    events: list[tuple[str, str, int]], cuts: list[int], twice: bool
) -> None:
    lines, at = [], 0
    for number, (event, session, seconds) in enumerate(events):
        at += seconds
        lines.append(line_of(number, event, session, at_s=at))
    found = []
    for places in ([], sorted(cuts)):
        with tempfile.TemporaryDirectory() as folder:
            captured = Captured(Path(folder), BEGIN + timedelta(days=2))
            spool.folder_of(captured.state).mkdir(parents=True)
            for start, end in zip([0, *places], [*places, len(lines)], strict=True):
                captured.write(*lines[start:end])
                captured.replay()
                if twice:
                    captured.write(*lines[:end])
                    captured.replay()
            found.append((captured.batches(), captured.counted()._replace(replayed="")))
    assert found[0] == found[1]


@pytest.mark.parametrize("where", ["current", "sealed"])
def test_a_file_that_a_writer_has_open_is_read_and_stays_until_he_is_gone(captured: Captured, where: str) -> None:
    captured.write(line_of(1))
    late = os.open(captured.current, os.O_WRONLY | os.O_APPEND)
    done = captured.replay()
    if spool.sealed(spool.folder_of(captured.state)) == []:
        pytest.fail("the file of a writer was removed")
    assert (done.taken.new, done.files, done.waiting) == (1, 0, 1)
    if where == "sealed":
        captured.replay()
    os.write(late, line_of(2))
    captured.write(line_of(3))
    assert captured.replay().waiting == 1
    os.close(late)
    assert captured.replay().files == 1
    assert captured.counted().events == 3 and spool.sealed(spool.folder_of(captured.state)) == []


def test_half_a_line_of_a_writer_that_is_still_there_is_left_to_him(captured: Captured) -> None:
    late = os.open(captured.current, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    whole = line_of(1)
    os.write(late, whole[:40])
    assert captured.replay().taken == Taken()
    os.write(late, whole[40:])
    os.close(late)
    assert captured.replay().taken == Taken(new=1)


def test_half_a_line_that_nobody_will_end_is_kept_apart_once(captured: Captured) -> None:
    captured.write(line_of(1), line_of(2)[:50])
    assert captured.replay().taken == Taken(new=1, damaged=1)
    captured.write(line_of(2)[:50])
    assert captured.replay().taken == Taken()
    assert captured.counted().damaged == 1


def test_a_whole_line_behind_one_that_was_cut_short_counts(captured: Captured) -> None:
    captured.write(line_of(1)[:50], line_of(2))
    assert captured.replay().taken == Taken(new=1)


@pytest.mark.parametrize(
    "line",
    [b"\x00" * 100, b"[]", b"5", b"{}", b"nonsense", b"[" * 100_000, b'{"id":5}', line_of(1, "").strip(),
     line_of(1).replace(b"0000", b"zzzz", 1).strip(), line_of(1, **{"in": -1}).strip(),
     line_of(1, **{"in": 1 << 70}).strip(),
     line_of(1, ts="yesterday").strip(), line_of(1, "Stop", ts="2026-02-30T10:00:00.000Z").strip(),
     line_of(1, "Stop", ts="0000-01-01T00:00:00.000Z").strip(), line_of(1, session=7).strip(), b"x" * 3_000_000],
)  # fmt: skip
def test_what_is_no_event_is_kept_apart_and_hurts_no_other(captured: Captured, line: bytes) -> None:
    captured.write(line_of(100), line + b"\n", line_of(101))
    assert captured.replay().taken == Taken(new=2, damaged=1)


def test_a_lone_surrogate_in_a_name_does_not_stop_a_replay(captured: Captured) -> None:
    captured.write(line_of(1, session="a\ud800b"))
    assert captured.replay().taken == Taken(new=1)


def test_more_damage_than_anybody_would_read_is_not_kept(captured: Captured) -> None:
    captured.write(*(b"%d\n" % number for number in range(store.KEPT_DAMAGED + 50)))
    captured.replay()
    assert captured.counted().damaged == store.KEPT_DAMAGED


def test_old_events_are_swept_and_a_second_replay_does_not_bring_them_back(captured: Captured) -> None:
    lines = [line_of(1), line_of(2, "SessionStart"), line_of(3, at_s=86_400 * 3)]
    captured.write(*lines)
    captured.now = BEGIN + timedelta(days=3, hours=1)
    captured.replay()
    captured.now = BEGIN + timedelta(days=31)
    done = captured.replay()
    assert (done.swept, captured.counted().events, captured.counted().batches) == (2, 1, 0)
    captured.write(*lines)
    assert captured.replay().taken == Taken(known=1, expired=2)


def test_it_is_swept_every_six_hours_at_most(captured: Captured) -> None:
    captured.now = BEGIN
    captured.replay(keep_days=1)
    captured.write(line_of(1))
    captured.replay(keep_days=30)
    captured.now = BEGIN + timedelta(hours=5, minutes=59)
    with sqlite3.connect(store.path_of(captured.state)) as connection:
        connection.execute("UPDATE events SET ts = '2020-01-01T00:00:00.000Z'")
    assert captured.replay().swept == 0
    captured.now = BEGIN + timedelta(hours=6)
    assert captured.replay().swept == 1


def test_a_clock_that_was_set_back_stops_nothing(captured: Captured) -> None:
    captured.now = BEGIN + timedelta(days=300)
    captured.replay()
    captured.now = BEGIN
    captured.write(line_of(1), line_of(2, "Stop", at_s=-9000))
    assert captured.replay().taken == Taken(new=2)


def test_a_sweep_that_was_noted_in_the_future_holds_up_none(captured: Captured) -> None:
    captured.now = BEGIN + timedelta(days=3000)
    captured.replay()
    captured.now = BEGIN
    captured.write(line_of(1))
    captured.replay()
    captured.now = BEGIN + timedelta(days=40)
    assert captured.replay().swept == 1


def test_only_one_replays_at_a_time(captured: Captured) -> None:
    captured.replay()
    with store.path_of(captured.state).with_name("lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OverdeckError) as raised:
            captured.replay()
    assert raised.value.exit_code is ExitCode.BUSY


@pytest.mark.parametrize("what", ["no database", "a folder", "a pipe", "a newer version"])
def test_a_store_that_cannot_be_used_leaves_the_spool_alone(captured: Captured, what: str) -> None:
    path = store.path_of(captured.state)
    path.parent.mkdir()
    if what == "no database":
        path.write_bytes(b"not a database at all" * 1000)
    elif what == "a folder":
        path.mkdir()
    elif what == "a pipe":
        os.mkfifo(path)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
    captured.write(line_of(1))
    with pytest.raises((OverdeckError, OSError)):
        captured.replay()
    assert captured.current.read_bytes() == line_of(1)


def test_a_full_disk_stops_a_replay_and_loses_nothing(captured: Captured) -> None:
    with small_disk(captured.state, "1900k"):
        spool.folder_of(captured.state).mkdir(parents=True)
        captured.write(*(line_of(number) for number in range(6000)))
        with pytest.raises(OverdeckError) as raised:
            captured.replay()
        assert "full" in raised.value.message and raised.value.exit_code is ExitCode.USAGE
        grown(captured.state, "20m")
        captured.write(line_of(6000))
        captured.replay()
        assert captured.counted().events == 6001


@pytest.mark.parametrize("kind", ["folder", "symlink", "pipe"])
def test_what_is_no_file_among_the_sealed_ones_is_named_and_the_others_are_read(
    captured: Captured, kind: str
) -> None:
    strange = spool.folder_of(captured.state) / "spool-00000000000000000001-1.jsonl"
    if kind == "folder":
        strange.mkdir()
    elif kind == "symlink":
        strange.symlink_to("/etc/hostname")
    else:
        os.mkfifo(strange)
    captured.write(line_of(1))
    done = captured.replay()
    assert done.taken.new == 1 and len(done.problems) == 1 and str(strange) in done.problems[0]


def test_without_leases_a_sealed_file_goes_when_it_is_old(
    captured: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS, or on a file system that has none."""
    monkeypatch.delattr(fcntl, "F_SETLEASE")
    captured.write(line_of(1))
    assert captured.replay().waiting == 1
    (sealed,) = spool.sealed(spool.folder_of(captured.state))
    sealed.rename(sealed.with_name(f"spool-{time.time_ns() - (spool.SETTLED_S + 1) * 10**9:020d}-1.jsonl"))
    done = captured.replay()
    assert (done.taken, done.files, done.waiting) == (Taken(known=1), 1, 0)


def test_the_store_is_the_owners_alone(captured: Captured) -> None:
    captured.write(line_of(1))
    captured.replay()
    folder = store.path_of(captured.state).parent
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {
        "events.sqlite3": 0o600, "lock": 0o600,
    }  # fmt: skip
    assert folder.stat().st_mode & 0o777 == 0o700


def test_twenty_thousand_events_take_seconds(captured: Captured) -> None:
    order = list(range(20_000))
    random.Random(1).shuffle(order)  # ids are in no order
    captured.write(*(line_of(number, session=f"s{number % 50}") for number in order))
    started = time.monotonic()
    assert captured.replay().taken.new == 20_000
    assert time.monotonic() - started < 10


def test_the_module_that_starts_it_knows_the_same_seams() -> None:
    module = runpy.run_path(str(shipped("modules", "replay", "module.py")))
    assert (module["SEAM_EVENTS"], module["SEAM_S"]) == (seams.SEAM_EVENTS, seams.SEAM_S)
