"""The event log, read as it grows: what rotates, what is torn, what is not there yet."""

import json
import threading
from pathlib import Path

import pytest
from waiting import until

from overdeck.errors import OverdeckError
from overdeck.telemetry.events import LONGEST_BYTES, Look, follow, look, pattern, wanted


def line(type: str, **fields: object) -> bytes:
    common = {"ts": "2026-11-30T10:00:00.000Z", "type": type, "source": "events", "session": "s1"}
    return json.dumps({**common, **fields}).encode() + b"\n"


def types(found: Look) -> list[str]:
    return [event.type for event in found.events]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def test_the_first_look_shows_the_last_events_that_are_asked_for(log: Path) -> None:
    log.write_bytes(b"".join(line(f"tool.n{n}") + line("turn.done") for n in range(30)))
    assert types(look(log, None, ["tool.*"], last=3)) == ["tool.n27", "tool.n28", "tool.n29"]
    assert types(look(log, None, [], last=0)) == []


def test_the_first_look_reaches_back_into_the_renamed_log(log: Path) -> None:
    log.with_name("events.jsonl.1").write_bytes(line("a.old"))
    log.write_bytes(line("a.new"))
    assert types(look(log, None, [], last=10)) == ["a.old", "a.new"]


def test_what_comes_is_shown_once(log: Path) -> None:
    log.write_bytes(line("a.one"))
    first = look(log, None, [], last=10)
    with log.open("ab") as more:
        more.write(line("a.two") + line("a.three"))
    second = look(log, first, [], last=10)
    assert (types(first), types(second)) == (["a.one"], ["a.two", "a.three"])
    assert types(look(log, second, [], last=10)) == []


def test_a_line_that_is_still_written_waits_until_it_is_whole(log: Path) -> None:
    whole = line("a.slow", number=1)
    log.write_bytes(line("a.first") + whole[:20])
    first = look(log, None, [], last=10)
    with log.open("ab") as more:
        more.write(whole[20:])
    assert types(first) == ["a.first"] and first.broken == 0
    assert types(look(log, first, [], last=10)) == ["a.slow"]


TORN = [line("a.x")[:25], b"[1]", b'{"type":5}', b"\xff\xfe", b"[" * 100_000]


@pytest.mark.parametrize("torn", TORN, ids=["cut", "list", "number", "bytes", "deep"])
def test_a_line_that_is_none_is_counted_and_takes_no_other_with_it(log: Path, torn: bytes) -> None:
    log.write_bytes(b"")
    before = look(log, None, [], last=10)
    log.write_bytes(line("a.one") + torn + b"\n" + line("a.two"))
    now = look(log, before, [], last=10)
    assert (types(now), now.broken) == (["a.one", "a.two"], 1)


def test_what_never_ends_is_no_line_and_is_not_read_at_every_look(log: Path) -> None:
    log.write_bytes(line("a.one"))
    first = look(log, None, [], last=10)
    with log.open("ab") as more:
        more.write(b"\0" * (LONGEST_BYTES + 1))
    second = look(log, first, [], last=10)
    assert (types(second), second.broken, list(second.offsets.values())) == ([], 1, [log.stat().st_size])
    with log.open("ab") as more:
        more.write(b"\n" + line("a.two"))
    assert types(look(log, second, [], last=10)) == ["a.two"]


def test_a_number_that_json_has_not_makes_a_line_none(log: Path) -> None:
    log.write_bytes(line("a.one"))
    first = look(log, None, [], last=10)
    with log.open("ab") as more:
        more.write(line("a.two", x=float("nan")) + line("a.three", x=float("inf")) + line("a.four"))
    second = look(log, first, [], last=10)
    assert (types(second), second.broken) == (["a.four"], 2)


def test_nothing_is_lost_when_the_log_is_renamed_between_two_looks(log: Path) -> None:
    log.write_bytes(line("a.one"))
    before = look(log, None, [], last=10)
    with log.open("ab") as old:
        old.write(line("a.two"))
        log.rename(log.with_name("events.jsonl.1"))
        log.write_bytes(line("a.four"))
        old.write(line("a.three"))  # who had it open writes on
    now = look(log, before, [], last=10)
    assert types(now) == ["a.two", "a.three", "a.four"]
    assert types(look(log, now, [], last=10)) == []


def test_a_log_that_became_shorter_was_begun_anew(log: Path) -> None:
    log.write_bytes(line("a.one") * 3)
    before = look(log, None, [], last=10)
    log.write_bytes(line("a.new"))
    assert types(look(log, before, [], last=10)) == ["a.new"]


def test_following_begins_before_there_is_a_log(log: Path) -> None:
    steps = iter([lambda: None, lambda: log.write_bytes(line("a.one") + line("b.two"))])
    looks = follow(log, ["b.*"], last=10, every_s=0.1, pause=lambda _: next(steps)())
    first = next(looks)
    assert (first.there, first.events) == (False, [])
    assert types(next(looks)) == ["b.two"]


def test_calls_that_the_doctor_makes_are_no_events(log: Path) -> None:
    log.write_bytes(line("tool.called").replace(b'"s1"', b'"overdeck-doctor"') + line("turn.done"))
    assert types(look(log, None, [], last=10)) == ["turn.done"]


def test_types_are_asked_for_by_topic() -> None:
    assert wanted("work.created", [pattern("work")]) and wanted("work.created", [pattern("work.*")])
    assert wanted("custom.build.done", ["custom.*"]) and wanted("turn.done", ["tool.*", "*.done"])
    assert not wanted("workshop.done", [pattern("work")]) and not wanted("Work.created", ["work.*"])
    assert wanted("anything.at.all", [])


@pytest.mark.parametrize("text", ["", "work created", "wörk.*", "\x1b[0m", "[a-z].*"])
def test_what_no_type_is_called_is_refused(text: str) -> None:
    with pytest.raises(OverdeckError, match="no type of event"):
        pattern(text)


def test_a_log_that_is_renamed_again_and_again_is_read_once(log: Path) -> None:
    """A writer that renames while looks go on; it is never two files ahead, for nobody could follow that."""
    lines, each = 1200, 3
    seen: list[int] = []

    def write() -> None:
        for number in range(0, lines, each):
            log.write_bytes(b"".join(line("a.x", number=number + n) for n in range(each)))
            until(lambda number=number: len(seen) >= number)
            log.rename(log.with_name("events.jsonl.1"))

    writer = threading.Thread(target=write)
    writer.start()
    before = Look([], 0, {}, there=False)
    while writer.is_alive() or len(seen) < lines:
        before = look(log, before, [], last=0)
        seen += [event.fields["number"] for event in before.events]
        assert len(seen) <= lines
    writer.join()
    assert seen == list(range(lines))
