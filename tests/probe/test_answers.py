"""A hook's answer, read from what it printed and how it ended."""

import json

import pytest

from overdeck.probe.answers import Answer, read_answer


def claude(event: str, **specific: object) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **specific}})


@pytest.mark.parametrize(
    ("event", "code", "stdout", "stderr", "answer"),
    [
        (
            "PreToolUse",
            0,
            claude("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"),
            "",
            Answer("deny", "no"),
        ),
        ("PreToolUse", 2, "", "no\n", Answer("deny", "no")),
        ("Stop", 0, '{"decision": "block", "reason": "go on"}', "", Answer("keep going", "go on")),
        ("BeforeTool", 0, '{"decision": "deny", "reason": "no"}', "", Answer("deny", "no")),
        ("PreToolUse", 0, claude("PreToolUse", updatedInput={"a": 1}), "", Answer(rewrites=True)),
        ("PostToolUse", 0, claude("PostToolUse", additionalContext="so"), "", Answer(context="so")),
        ("PreToolUse", 0, '{"systemMessage": "look"}', "", Answer(told="look")),
        ("PreToolUse", 0, "", "", Answer()),
        ("PreToolUse", 1, "", "a warning", Answer()),
    ],
)
def test_an_answer_is_read(event: str, code: int, stdout: str, stderr: str, answer: Answer) -> None:
    assert read_answer(event, code, stdout, stderr) == answer


def test_an_answer_with_text_behind_it_is_unread() -> None:
    assert read_answer("PreToolUse", 0, '{"decision": "block"} and more', "").unread
