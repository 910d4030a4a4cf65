"""What the transcripts say of each command, event and session."""

from datetime import UTC, date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import transcripts as make

from overdeck.paths import Places
from overdeck.telemetry.transcripts.costs import CommandCost, TranscriptReport
from overdeck.telemetry.transcripts.report import examine, example

if TYPE_CHECKING:
    from conftest import Sessions


def cost(report: TranscriptReport, command: str | None) -> CommandCost:
    return next(row for row in report.commands if row.command == command)


def test_a_command_is_counted_by_how_its_runs_ended(sessions: "Sessions") -> None:
    sessions.append(
        "a.jsonl",
        [
            *(make.success(n, ms=10 * n) for n in range(1, 6)),
            make.success(6, event="Stop", tool="", ms=900),
            make.killed(7),
            make.failed(8, "KeyError: 'x'"),
            make.failed(9, "/bin/sh: 1: x: not found", code=127),
            make.blocked(10, "no"),
            make.success(11, command="other"),
        ],
    )
    found = cost(sessions.examine(), "python3 guard.py")

    assert (found.runs, found.timed, found.killed, found.errors, found.not_started) == (10, 9, 1, 1, 1)
    assert (found.blocked, found.acted, found.events) == (1, 1, ("PreToolUse", "Stop"))
    assert (found.p50_ms, found.max_ms, found.total_ms) == (30, 5012, 150 + 900 + 5012 + 30 + 30)


def test_the_worst_come_first(sessions: "Sessions") -> None:
    sessions.append(
        "a.jsonl",
        [
            make.success(1, command="quick", ms=5),
            make.success(2, command="slow", ms=5000),
            make.failed(3, "x: not found", code=127, command="absent", ms=1),
            make.killed(4, command="killed", ms=100),
        ],
    )
    report = sessions.examine()

    assert [row.command for row in report.commands] == ["killed", "absent", "slow", "quick"]
    assert [row.word for row in report.commands] == [
        "killed 100 %",
        "never started",
        "no act recorded",
        "no act recorded",
    ]


def test_failures_are_counted_by_text_and_the_text_stays_in_the_transcript(sessions: "Sessions") -> None:
    path = sessions.append(
        "a.jsonl",
        [
            make.failed(1, "cannot lint '/a/b.py'", command="lint"),
            make.failed(2, "cannot lint '/c.py'\nmore", command="lint"),
            make.failed(3, "Traceback (most recent call last):\n  File x\nKeyError: 'q'"),
        ],
    )
    report = sessions.examine()

    assert [(row.command, row.records) for row in report.failures] == [("lint", 2), ("python3 guard.py", 1)]
    assert [example(row) for row in report.failures] == ["cannot lint '/c.py'", "KeyError: 'q'"]
    assert b"lint '" not in sessions.user.places.database.read_bytes()
    path.unlink()
    assert example(report.failures[0]) == ""


def test_a_call_waits_for_the_longest_of_its_hooks(sessions: "Sessions") -> None:
    day = make.START + timedelta(days=1)
    sessions.append(
        "a.jsonl",
        [
            make.success(1, call="t1", ms=10),
            make.success(2, call="t1", ms=70, command="b"),
            make.success(3, call="t2", ms=30),
            make.success(4, call="t3", ms=500, at=day),
        ],
    )
    days = {row.day: row for row in sessions.examine().events}

    first = days[date(2026, 11, 1)]
    assert (first.calls, first.records, first.p50_ms, first.waited_ms, first.hook_ms) == (2, 3, 50, 100, 110)
    assert days[date(2026, 11, 2)].p50_ms == 500


def test_a_context_told_of_twice_is_injected_once(sessions: "Sessions") -> None:
    answer = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"12345"}}'
    note = {"type": "hook_additional_context", "content": ["12345"], "hookName": "PreToolUse:Bash",
            "toolUseID": "t1", "hookEvent": "PreToolUse"}  # fmt: skip
    sessions.append("a.jsonl", [make.success(1, stdout=answer, call="t1"), make.attachment(2, note)])
    report = sessions.examine()

    assert (report.runs, cost(report, "python3 guard.py").injected_bytes) == (1, 5)
    assert report.events[0].injected_bytes == 5


def test_the_window_is_of_what_is_reported_not_of_what_is_read(sessions: "Sessions") -> None:
    late = make.START + timedelta(days=10)
    sessions.append("a.jsonl", [make.success(1), make.success(2, at=late)])
    now = late + timedelta(hours=1)

    assert sessions.examine(now=now, since=timedelta(days=1)).runs == 1
    assert sessions.examine(now=now).runs == 2


def test_the_worst_session_is_the_one_whose_hooks_took_longest(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.success(n, session="many", ms=1) for n in range(1, 5)])
    sessions.append("b.jsonl", [make.killed(9, session="long")])
    worst = sessions.examine().worst_sessions

    assert [(row.session, row.killed) for row in worst] == [("long", 1), ("many", 0)]


def test_another_place_is_reported_alone_even_where_it_repeats_what_is_here(
    sessions: "Sessions", tmp_path: Path
) -> None:
    sessions.append("a.jsonl", [make.success(1), make.success(2)])
    sessions.examine()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("one", "two"):
        (elsewhere / f"{name}.jsonl").write_bytes(make.line(make.success(1)) + make.line(make.success(3)))
    report = sessions.examine(root=elsewhere)

    assert (report.files, report.runs) == (2, 2)
    assert sessions.examine(root=elsewhere).read.bytes == 0
    assert (sessions.examine().runs, sessions.uuids()) == (2, [1, 2, 3])


def test_no_transcript_is_no_report_and_no_database(tmp_path: Path) -> None:
    places = Places.from_environment({"HOME": str(tmp_path)})

    assert examine(places, tmp_path / ".claude" / "projects") is None
    assert not places.state.exists()


def test_transcripts_without_hooks_are_a_report_of_nothing(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.tool_result(1, "x")])
    report = sessions.examine()

    assert (report.files, report.runs, report.first, report.commands) == (1, 0, None, ())


def test_times_in_the_report_are_utc(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [{**make.success(1), "timestamp": "2026-11-01T10:00:00.000+02:00"}])
    first = sessions.examine().first

    assert first is not None and (first.hour, first.tzinfo) == (8, UTC)


def test_records_from_the_future_are_counted_and_said(sessions: "Sessions") -> None:
    sessions.append("a.jsonl", [make.success(1), make.success(2), make.success(7200)])
    report = sessions.examine(now=make.START + timedelta(hours=1))

    assert (report.runs, report.ahead) == (3, 1)
