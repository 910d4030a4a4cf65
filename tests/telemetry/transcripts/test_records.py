"""One attachment line: what is taken from it, what is refused, and what is never kept."""

import json
from datetime import datetime
from typing import Any

import pytest
import transcripts as make
from hypothesis import given
from hypothesis import strategies as st

from overdeck.telemetry.lines import Rejected
from overdeck.telemetry.transcripts.records import CONTEXT_PREVIEW_BYTES, Record, record


def read(document: dict[str, Any]) -> Record:
    found = record(make.line(document).rstrip(b"\n"))
    assert isinstance(found, Record)
    return found


def without(document: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        del document["attachment"][key]
    return document


def test_a_success_gives_its_command_times_and_sizes() -> None:
    found = read(make.success(5, command="guard", ms=44, stdout="{}\n", session="s-9"))

    assert (found.command, found.event, found.hook) == ("guard", "PreToolUse", "PreToolUse:Bash")
    assert (found.outcome, found.duration_ms, found.exit_code, found.stdout_bytes) == ("ok", 44, 0, 3)
    assert (found.session, found.ts) == ("s-9", datetime(2026, 11, 1, 8, 0, 5))
    assert found.uuid == "00000000-0000-0000-0000-000000000005"


def test_a_hook_at_its_timeout_was_killed_and_one_stopped_by_the_user_was_cancelled() -> None:
    assert read(make.killed(1)).outcome == "killed"
    assert read(without(make.killed(1), "timedOut")).outcome == "cancelled"


@pytest.mark.parametrize(
    ("stderr", "code", "outcome"),
    [
        ("/bin/sh: 1: guard: not found", 127, "not-started"),
        ("/bin/sh: 1: ./guard.sh: Permission denied", 126, "not-started"),
        ("python3: can't open file '/x/guard.py': [Errno 2] No such file or directory", 2, "not-started"),
        ("Traceback (most recent call last):\nKeyError: 'x'", 1, "error"),
        ("No stderr output", 1, "error"),
    ],
)
def test_a_failure_says_whether_the_program_started(stderr: str, code: int, outcome: str) -> None:
    assert read(make.failed(1, stderr, code=code)).outcome == outcome


def test_a_block_acted_and_its_reason_reached_the_model() -> None:
    found = read(make.blocked(1, "no é", command="guard"))

    assert (found.outcome, found.acted, found.command, found.injected_bytes) == ("blocked", True, "guard", 5)
    assert found.duration_ms is None


def test_a_guard_whose_script_is_gone_blocks_everything_and_never_started() -> None:
    found = read(
        make.blocked(
            1, "[python3 /x/guard.py]: python3: can't open file '/x/guard.py': [Errno 2] No such file or directory"
        )
    )

    assert (found.outcome, found.acted, found.failure) == ("not-started", True, "its Python script is not there")
    quoted = "your command says python3: can't open file 'x': [Errno 2] No such file or directory"
    assert read(make.blocked(2, quoted)).outcome == "blocked"


@pytest.mark.parametrize(
    ("stdout", "acted"),
    [
        ("", False),
        ("{}", False),
        ('{"continue": true, "suppressOutput": true}', False),
        ('{"hookSpecificOutput": {"hookEventName": "PreToolUse"}}', False),
        ("some words that nobody reads", False),
        ('{"decision": "approve"}', True),
        ('{"continue": false}', True),
        ('\ufeff{"systemMessage": "hello"}\n', True),
        ('{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"a": 1}}}', True),
    ],
)
def test_a_hook_acted_where_its_answer_asks_for_something(stdout: str, acted: bool) -> None:
    assert read(make.success(1, stdout=stdout)).acted is acted


def test_plain_text_reaches_the_model_at_a_start_a_prompt_and_a_compaction_only() -> None:
    def injected(event: str) -> int:
        return read(make.success(1, event=event, tool="", stdout="hello\n", content="hello")).injected_bytes

    assert [injected(event) for event in ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop")] == [
        5,
        5,
        5,
        0,
    ]


def test_a_context_beyond_the_cap_counts_as_the_preview_that_the_model_sees() -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "x" * 10_001}}

    assert read(make.success(1, stdout=json.dumps(answer))).injected_bytes == CONTEXT_PREVIEW_BYTES


def test_the_event_is_taken_from_the_name_where_it_is_missing() -> None:
    assert read(without(make.success(1), "hookEvent")).event == "PreToolUse"


def test_a_record_of_a_subagent_is_marked() -> None:
    assert read({**make.success(1), "isSidechain": True}).sub
    assert not read(make.success(1)).sub


def test_the_hooks_of_one_event_share_a_call() -> None:
    one, two = (read(make.success(n, call="toolu_1")) for n in (1, 2))
    other = read(make.success(3, call="toolu_1", event="PostToolUse"))

    assert one.call == two.call != other.call


def test_records_without_an_id_are_told_apart_by_what_they_say() -> None:
    def nameless(ms: int) -> str:
        document = make.success(1, ms=ms)
        del document["uuid"]
        return read(document).uuid

    assert nameless(40) == nameless(40) != nameless(41)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"timestamp": "yesterday"}, "timestamp is not a time"),
        ({"timestamp": None}, "timestamp is not a time"),
        ({"attachment": []}, "attachment is not an object"),
        ({"attachment": {"type": 5}}, "attachment.type is not a string"),
        ({"attachment": {"type": "hook_success"}}, "no hookEvent"),
        (
            {"attachment": {"type": "hook_success", "hookEvent": "Stop", "durationMs": "5"}},
            "durationMs is not a number",
        ),
        (
            {"attachment": {"type": "hook_success", "hookEvent": "Stop", "durationMs": -5}},
            "durationMs is out of range",
        ),
        (
            {"attachment": {"type": "hook_success", "hookEvent": "Stop", "command": ["a"]}},
            "command is not a string",
        ),
    ],
)
def test_a_record_with_a_wrong_type_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Rejected, match=f"^{reason}$"):
        read({**make.success(1), **change})


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"type":"attachment","x":"\xff"}', "not UTF-8"),
        (b'{"type":"attachment"', "not JSON"),
        (b'["attachment"]', "not a JSON object"),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_a_broken_line_is_refused_with_the_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(Rejected, match=reason):
        record(raw)


def test_other_records_are_none_and_other_attachments_their_type() -> None:
    nested = make.tool_result(1, "x") | {"toolUseResult": {"attachment": make.success(1)["attachment"]}}

    assert record(make.line(nested).rstrip(b"\n")) is None
    assert record(make.line(make.attachment(1, {"type": "hook_of_tomorrow"})).rstrip(b"\n")) == "hook_of_tomorrow"


SECRET = "s3cret-of-the-user"


@pytest.mark.parametrize(
    "document",
    [
        make.success(1, stdout=json.dumps({"systemMessage": SECRET}), content=SECRET),
        make.failed(1, f"cannot handle {SECRET} in '/home/{SECRET}'"),
        make.failed(1, f"ValueError: {SECRET}"),
        make.blocked(1, f"you may not run {SECRET}"),
        make.attachment(1, {"type": "hook_additional_context", "hookEvent": "Stop", "content": [SECRET]}),
        make.attachment(1, {"type": "hook_error_during_execution", "hookEvent": "Stop", "content": SECRET}),
        make.success(1) | {"cwd": f"/home/{SECRET}", "gitBranch": SECRET},
        make.denied(1, f"you may not run {SECRET}"),
    ],
)
def test_nothing_that_a_hook_printed_is_kept(document: dict[str, Any]) -> None:
    assert SECRET not in repr(read(document))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=6,
    ),
    st.sampled_from(
        ["type", "hookName", "hookEvent", "toolUseID", "command", "durationMs", "exitCode", "stdout", "stderr",
         "content", "blockingError", "timedOut"]
    ),
    st.sampled_from(["hook_success", "hook_blocking_error", "hook_cancelled", "hook_additional_context"]),
)  # fmt: skip
def test_any_value_in_any_field_gives_a_record_or_a_reason(value: object, field: str, kind: str) -> None:
    document = make.success(1)
    document["attachment"] |= {"type": kind, field: value}
    raw = json.dumps(document).encode()
    try:
        found = record(raw)
    except Rejected:
        return
    assert found is None or isinstance(found, str | Record)
    if isinstance(found, Record):
        "".join(str(part) for part in found).encode()
