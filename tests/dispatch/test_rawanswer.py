"""What an adopted hook's end means: the table of contract/FACTS.md, sections 0 and 3."""

import json
from typing import Any

import pytest

from overdeck.dispatch import rawanswer


def pre(**fields: Any) -> bytes:
    return json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}).encode()


DENY = pre(permissionDecision="deny", permissionDecisionReason="no")
ALLOW = pre(permissionDecision="allow")


def said(event: str, code: int, out: bytes = b"", err: bytes = b"") -> list[tuple[str, str]]:
    answer, _ = rawanswer.read(event, code, out, err)
    return [] if answer is None else list(rawanswer.parts(event, answer))


@pytest.mark.parametrize("code", [0, 1, 3, 127, -9])
def test_json_is_obeyed_whatever_the_exit_code(code: int) -> None:
    assert said("PreToolUse", code, DENY) == [("deny", "no")]


@pytest.mark.parametrize(
    ("out", "err", "reason"),
    [
        (b"", b"because\n", "because"),
        (b"", b"", rawanswer.NO_STDERR),
        (ALLOW, b"because", "because"),
        (DENY, b"because", "no"),
        (b"text", b"because", "because"),
    ],
)
def test_an_exit_of_2_blocks_and_only_a_deny_of_the_json_has_its_own_reason(
    out: bytes, err: bytes, reason: str
) -> None:
    assert said("PreToolUse", 2, out, err) == [("deny", reason)]


@pytest.mark.parametrize(
    "event", ["SessionStart", "SubagentStart", "PermissionRequest", "Notification", "SessionEnd"]
)
def test_an_exit_of_2_has_no_effect_where_the_client_cannot_block(event: str) -> None:
    assert said(event, 2, b"", b"because") == []


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_a_stop_hook_that_is_not_there_does_not_block(event: str) -> None:
    assert said(event, 2, b"", b"python3: can't open file: [Errno 2] No such file or directory") == []
    assert said(event, 2, b"", b"go on") == [("deny", "go on")]


@pytest.mark.parametrize("code", [1, 3, 126, 127, 255, -9])
def test_any_other_exit_without_json_is_nothing(code: int) -> None:
    assert said("PreToolUse", code, b"text", b"error") == []


@pytest.mark.parametrize(
    "out",
    [
        b"checking\n" + DENY,
        DENY + DENY,
        DENY + b"\x00",
        DENY.decode().encode("utf-16"),
        b"\x1b[32m" + DENY,
        b"[1]",
        b'{"decision": "block", "reason": NaN}',
        b'{"decision": "block", "reason": "a\nb"}',
        b'{"continue": "false", "decision": "block"}',
        b'{"decision": "maybe"}',
        pre(permissionDecision="deny", additionalContext=None),
        pre(permissionDecision="deny", additionalContext=["x"]),
        pre(permissionDecision="never"),
        b'{"hookSpecificOutput": {"permissionDecision": "deny"}}',
        b'{"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "deny"}}',
    ],
)
def test_an_answer_that_the_client_would_drop_is_dropped(out: bytes) -> None:
    assert said("PreToolUse", 0, out) == []


@pytest.mark.parametrize(
    "out",
    [
        DENY + b"\r\n",
        b"  \n" + DENY,
        b"\xef\xbb\xbf" + DENY,
        json.dumps(json.loads(DENY), indent=4).encode(),
        DENY.replace(b"no", b"no"),
        pre(permissionDecision="deny", permissionDecisionReason="no", somethingNew=1),
    ],
)
def test_what_the_client_tolerates_is_tolerated(out: bytes) -> None:
    assert said("PreToolUse", 0, out) == [("deny", "no")]


def test_bytes_that_are_not_utf_8_become_marks() -> None:
    assert said("PreToolUse", 0, DENY.replace(b'"no"', b'"n\xe9"')) == [("deny", "n\ufffd")]


@pytest.mark.parametrize(
    ("event", "context"),
    [
        ("SessionStart", True),
        ("UserPromptSubmit", True),
        ("PreToolUse", False),
        ("PostToolUse", False),
        ("Stop", False),
    ],
)
def test_plain_text_is_context_only_at_two_events(event: str, context: bool) -> None:
    assert said(event, 0, b"a fact\n") == ([("advise", "a fact")] if context else [])


def test_a_stop_before_a_tool_does_not_refuse_the_tool() -> None:
    assert said("PreToolUse", 0, b'{"continue": false, "stopReason": "enough"}') == [("halt", "enough")]


def test_the_old_words_of_a_decision_are_read() -> None:
    assert said("PreToolUse", 0, b'{"decision": "block", "reason": "r"}') == [("deny", "r")]
    assert said("PreToolUse", 0, b'{"decision": "approve"}') == [("allow", "")]
    assert said("PostToolUse", 0, b'{"decision": "block", "reason": "r"}') == [("deny", "r")]


def test_an_allowed_rewrite_beats_a_later_one_without_and_else_the_last_wins() -> None:
    def rewrite(word: str, **more: str) -> dict[str, Any]:
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": word}, **more}}

    allowed = rewrite("a", permissionDecision="allow")
    assert rawanswer.rewritten("PreToolUse", [rewrite("x"), allowed, rewrite("y")]) == {"command": "a"}
    assert rawanswer.rewritten("PreToolUse", [rewrite("x"), rewrite("y")]) == {"command": "y"}
    assert rawanswer.rewritten("PostToolUse", [rewrite("x")]) is None


def test_fields_that_are_no_verdict_are_passed_on() -> None:
    answer = {
        "suppressOutput": True,
        "decision": "block",
        "hookSpecificOutput": {
            "hookEventName": "PostToolUse",
            "updatedToolOutput": {"a": 1},
            "additionalContext": "c",
        },
    }
    assert rawanswer.rest("PostToolUse", answer) == ({"suppressOutput": True}, {"updatedToolOutput": {"a": 1}})


def test_an_answer_that_asks_to_be_async_is_not_handed_on() -> None:
    answer, lost = rawanswer.read("PreToolUse", 0, b'{"async": true}', b"")
    assert (answer, "async" in lost) == (None, True)


@pytest.mark.parametrize(
    ("decision", "parts"),
    [
        ({"behavior": "deny", "message": "m", "interrupt": True}, [("deny", "m")]),
        ({"behavior": "deny"}, [("deny", rawanswer.NO_REASON)]),
        ({"behavior": "allow", "updatedInput": {"a": 1}}, [("allow", "")]),
        ({"behavior": "later"}, []),
    ],
)
def test_a_permission_request_has_its_own_decision(decision: dict[str, Any], parts: list[tuple[str, str]]) -> None:
    out = json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}).encode()
    assert said("PermissionRequest", 0, out) == parts
