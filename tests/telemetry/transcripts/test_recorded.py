"""Transcripts that a real client wrote (tests/transcripts/README.md): each says of its hooks what they really did."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import transcripts as make

from overdeck.telemetry.transcripts.records import DENIAL, Record, record, words
from overdeck.telemetry.transcripts.scan import scan

if TYPE_CHECKING:
    from conftest import Sessions

RECORDED = Path(__file__).parents[2] / "transcripts" / "recorded" / "2.1.197"


def records(scenario: str) -> list[Record]:
    found: list[Record] = []
    for file in sorted((RECORDED / scenario).rglob("*.jsonl")):
        here = scan(file.read_bytes(), 0)
        assert (here.refused, dict(here.others)) == ([], {})
        found += [one for _pos, one in here.records]
    return found


def ends(scenario: str) -> list[tuple[str, str | None, str]]:
    """Event, how its command line begins, and how it ended: of runs, in the order of the records."""
    return [
        (one.event, one.command and one.command[:16], one.outcome)
        for one in records(scenario)
        if one.outcome != "note"
    ]


@pytest.mark.parametrize(
    ("scenario", "runs"),
    [
        ("deny-exit-2", [("PreToolUse", "echo talked", "ok"), ("PreToolUse", "sleep 0.3; echo ", "blocked")]),
        ("block-after", [
            ("PostToolUse", "printf '%s' '{\"d", "blocked"), ("PostToolUse", "echo second look", "blocked"),
            ("PostToolUseFailure", "echo failed once", "ok"),
        ]),
        ("stop-blocked", [("Stop", "test -e once || ", "blocked"), ("Stop", "test -e once2 ||", "blocked")]),
        ("subagent-stop-blocked", [("SubagentStop", "test -e once2 ||", "blocked")]),
        ("error", [
            ("PreToolUse", "echo broke here ", "error"), ("PreToolUse", "exit 3", "error"),
            ("PreToolUse", "echo {not json", "ok"), ("PreToolUse", "printf '{\"hookSp", "error"),
            ("PreToolUse", "kill -9 $$", "error"), ("PostToolUse", "echo after broke", "error"),
        ]),
        ("timeout", [
            ("UserPromptSubmit", "echo partial; sl", "killed"), ("PreToolUse", "sleep 0.3; echo ", "ok"),
            ("PreToolUse", "sleep 20 # slow ", "killed"), ("PostToolUse", None, "cancelled"),
        ]),
        ("timeout-after", [
            ("SessionStart", "sleep 20 # slow ", "killed"), ("PostToolUse", None, "cancelled"),
            ("Stop", "sleep 20 # slow ", "killed"),
        ]),
        ("timeout-stubborn", [("PreToolUse", "trap '' TERM; sl", "killed")]),
        ("not-started", [
            ("PreToolUse", "/nowhere/guard -", "not-started"), ("PreToolUse", "no-such-program ", "not-started"),
            ("PreToolUse", "./not-executable", "not-started"), ("PreToolUse", "/nowhere/guard.s", "not-started"),
            ("PreToolUse", "./bad-interprete", "not-started"), ("PreToolUse", "node /nowhere/gu", "not-started"),
        ]),
        ("not-started-denies", [("PreToolUse", "python3 /nowhere", "not-started")]),
        ("not-started-after", [
            ("PostToolUse", "python3 /nowhere", "not-started"),
            ("PostToolUseFailure", "python3 /nowhere", "not-started"), ("Stop", "python3 /nowhere", "not-started"),
        ]),
        ("prompt-blocked", [("UserPromptSubmit", "python3 /nowhere", "not-started")]),
        ("async", [("PreToolUse", None, "ok"), ("PreToolUse", None, "ok")]),
        ("http", [
            ("PreToolUse", None, "error"), ("PreToolUse", None, "error"), ("PreToolUse", "http://127.0.0.1", "ok"),
        ]),
    ],
)  # fmt: skip
def test_every_run_that_left_a_record_ended_as_it_really_did(
    scenario: str, runs: list[tuple[str, str | None, str]]
) -> None:
    assert ends(scenario) == runs


def test_a_silent_success_leaves_no_record_and_one_that_spoke_does() -> None:
    found = records("success")

    assert not any(one.command and one.command.startswith("true") for one in found)
    assert [one.command for one in found if one.event == "Stop"] == ["echo bye # talking stop"]
    assert [one.acted for one in found if one.command == "echo checked # talking guard"] == [False, False]
    assert all(one.duration_ms is not None for one in found if one.command)


def test_a_call_denied_in_json_and_hooks_in_subagents_leave_no_record() -> None:
    assert records("deny-json") == []
    assert records("subagent") == []


def test_a_denial_reached_the_model_with_its_command_and_all_its_text() -> None:
    (denied,) = records("deny-exit-2-lines")

    assert (denied.kind, denied.hook, denied.exit_code, denied.acted) == (DENIAL, "PreToolUse:Bash", 2, True)
    assert denied.command == 'echo "a [x]: b"\necho refused >&2\nexit 2'
    assert denied.injected_bytes == len(f"PreToolUse:Bash hook error: [{denied.command}]: refused\n")
    assert denied.stderr_bytes == len("refused\n")


def test_a_denial_and_the_other_hooks_of_its_call_are_one_call() -> None:
    assert len({one.call for one in records("deny-exit-2")}) == 1


@pytest.mark.parametrize("scenario", ["not-started-denies", "not-started-after", "prompt-blocked", "not-started"])
def test_what_a_hook_failed_with_is_found_again_in_its_line(scenario: str) -> None:
    for file in (RECORDED / scenario).rglob("*.jsonl"):
        data = file.read_bytes()
        for pos, one in scan(data, 0).records:
            assert one.failure
            assert any(
                word in words(data[pos:].split(b"\n")[0])
                for word in ("No such file", "not found", "denied", "ENOENT", "Cannot find")
            )


def test_what_a_tool_printed_or_a_person_wrote_is_no_denial() -> None:
    text = "PreToolUse:Bash hook error: [guard]: no\n"
    printed = make.tool_result(1, text)
    asked = {"type": "user", "message": {"role": "user", "content": "Stop hook feedback:\n[guard]: no\n"}}
    by_json = {"type": "user", "isMeta": True, "message": {"content": "Stop hook feedback:\n[not code]: go on"}}
    later = make.tool_result(2, f"see: {text}")
    later["message"]["content"][0]["is_error"] = True

    for document in (printed, asked | make.envelope(3), by_json | make.envelope(4), later):
        assert record(make.line(document).rstrip(b"\n")) is None


@pytest.mark.parametrize(
    ("scenario", "event", "injected"),
    [
        ("context", "PreToolUse", len("before the tool")),
        ("context", "SessionStart", len("at the start")),
        ("context", "PostToolBatch", len("after the batch")),
        ("context-plain-and-json", "SessionStart", len("plain startjson start")),
        ("context-plain-and-json", "UserPromptSubmit", len("plain wordsjson words")),
    ],
)
def test_injected_bytes_of_an_event_are_what_the_model_got_once(
    sessions: "Sessions", scenario: str, event: str, injected: int
) -> None:
    shutil.copytree(RECORDED / scenario, sessions.root / "-home-dev-project")
    days = [day for day in sessions.examine().events if day.event == event]

    assert [day.injected_bytes for day in days] == [injected]


def test_contexts_of_two_days_at_one_kind_of_event_stay_on_their_days(sessions: "Sessions") -> None:
    start = make.attachment(
        1, {"type": "hook_additional_context", "hookName": "SessionStart", "toolUseID": "SessionStart",
            "hookEvent": "SessionStart", "content": ["abc"]}
    )  # fmt: skip
    documents = []
    for number, session in ((1, "s-1"), (2, "s-2")):
        stamp = f"2026-11-0{number}T08:00:00.000Z"
        ran = make.success(number + 10, event="SessionStart", tool="", session=session)
        documents += [
            {**start, "uuid": f"u-{number}", "timestamp": stamp, "sessionId": session},
            {**ran, "timestamp": stamp},
        ]
    sessions.append("a.jsonl", documents)

    assert [day.injected_bytes for day in sessions.examine().events] == [3, 3]


def test_the_whole_recording_is_read_once_and_its_failures_are_named(sessions: "Sessions") -> None:
    shutil.copytree(RECORDED, sessions.root / "-home-dev-project")
    first = sessions.examine()
    again = sessions.examine()

    assert (first.runs, first.refused_lines, again.runs) == (again.runs, 0, first.runs)
    assert first.runs == sum(len(ends(folder.name)) for folder in RECORDED.iterdir())
    names = {failure.failure for failure in first.failures}
    assert {"its Python script is not there", "could not be started: ENOENT"} <= names
