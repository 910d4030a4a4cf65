"""How far the store is behind, as `overdeck capture status` and the doctor say it."""

from datetime import timedelta

from captured import BEGIN, Captured, line_of

from overdeck.capture.standing import standing
from overdeck.dispatch.planning import SPOOL_BYTES


def test_what_is_spooled_is_counted_over_all_files_since_the_oldest_line(captured: Captured) -> None:
    captured.write(line_of(1), line_of(2))
    captured.current.rename(captured.current.with_name("spool-00000000000000000007-1.jsonl"))
    captured.write(line_of(3, at_s=60))
    now = standing(captured.state, captured.now)
    assert (now.lines, now.files, now.oldest) == (3, 2, "2026-03-01T10:00:00.000Z")
    assert now.size == 3 * len(line_of(1)) and now.kept.replayed == "" and not now.full


def test_nothing_spooled_and_no_store_is_nothing(captured: Captured) -> None:
    assert standing(captured.state / "nowhere", captured.now)[:6] == (0, 0, 0, "", "", False)


def test_a_session_start_of_ten_minutes_ago_should_have_been_replayed(captured: Captured) -> None:
    captured.write(line_of(1), line_of(2, "SessionStart", at_s=60), line_of(3, "SessionStart", at_s=90))
    assert standing(captured.state, BEGIN + timedelta(seconds=659)).unserved == ""
    assert standing(captured.state, BEGIN + timedelta(seconds=661)).unserved == "2026-03-01T10:01:00.000Z"


def test_a_tool_that_is_called_as_the_event_is_no_session_start(captured: Captured) -> None:
    captured.write(line_of(1, tool='"event":"SessionStart"'), line_of(2, session="SessionStart"))
    assert standing(captured.state, captured.now).unserved == ""


def test_what_was_left_spooled_over_a_weekend_is_no_fault(captured: Captured) -> None:
    captured.write(line_of(1), line_of(2))
    assert standing(captured.state, BEGIN + timedelta(days=3)).unserved == ""


def test_a_full_spool_is_told(captured: Captured) -> None:
    captured.write(line_of(1))
    with captured.current.open("r+b") as out:
        out.truncate(SPOOL_BYTES + 1)
    assert standing(captured.state, captured.now).full


def test_a_spool_that_is_no_file_is_told(captured: Captured) -> None:
    captured.current.mkdir()
    assert str(captured.current) in standing(captured.state, captured.now).problem
