"""Matchers as Claude Code evaluates them, and answers it obeys (contract/FACTS.md)."""

from typing import Any

import pytest

from overdeck.dispatch.clients import envelope
from overdeck.dispatch.matchers import CLAUDE_EVENTS, matches, routes
from overdeck.dispatch.merge import Merged


@pytest.mark.parametrize(
    ("matcher", "yes", "no"),
    [
        ("", ["Bash", "mcp__x"], []),
        ("*", ["Bash", "mcp__x"], []),
        (".*", ["Bash", "mcp__x"], []),
        ("Bash|Edit", ["Bash", "Edit"], ["Read", "BashOutput"]),
        ("Bash, Read", ["Bash", "Read"], ["Edit"]),
        (" Bash ", ["Bash"], []),
        ("Bas", [], ["Bash"]),
        ("bash", [], ["Bash"]),
        ("mcp__demo", [], ["mcp__demo__echo"]),
        ("Notebook", [], ["NotebookEdit"]),
        ("Ba.*", ["Bash", "xBay"], ["Read"]),
        (".*ash", ["Bash"], []),
        ("^mcp", ["mcp__demo__echo"], ["Bash"]),
        ("mcp__demo__*", ["mcp__demo__echo"], ["Bash"]),
        ("B*", ["Bash", "Read"], []),
        ("|", [], ["Bash"]),
        ("[", [], ["Bash"]),
        ("Bash(", [], ["Bash"]),
        ("Bash(echo *)", [], ["Bash"]),
        ("(?i)bash", [], ["Bash"]),
        ("(?P<x>Bash)", [], ["Bash"]),
        ("Task", ["Agent"], []),
        ("startup|resume", ["startup"], ["clear"]),
        ("start", [], ["startup"]),
        ("start.*", ["startup"], []),
    ],
)
def test_a_matcher_matches_as_measured(matcher: str, yes: list[str], no: list[str]) -> None:
    assert [name for name in yes if not matches(matcher, name)] == []
    assert [name for name in no if matches(matcher, name)] == []


def test_routes_name_known_tools_and_leave_the_unknown_to_python() -> None:
    assert routes("PreToolUse", "Bash|mcp__x__y") == ["Bash", "mcp__x__y"]
    assert routes("PreToolUse", "^Ba") == ["Bash", "?"]
    assert routes("PreToolUse", "") == ["*"]
    assert routes("Stop", "Bash") == ["*"]
    assert routes("SessionStart", "startup") == ["startup"]
    assert "Agent" in routes("PreToolUse", "Task")


def merged(**fields: Any) -> Merged:
    made = Merged()
    for key, value in fields.items():
        setattr(made, key, value)
    return made


def test_nothing_to_say_is_an_empty_answer_at_every_event() -> None:
    assert all(envelope(event, merged()) == {} for event in CLAUDE_EVENTS)


def test_a_rewrite_carries_no_permission_decision() -> None:
    answer = envelope("PreToolUse", merged(input={"command": "x"}))
    assert answer == {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "x"}}}


def test_a_stop_before_a_tool_is_a_deny_and_a_stop() -> None:
    answer = envelope("PreToolUse", merged(decision="deny", reason="r", stop="r"))
    assert answer["continue"] is False
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("event", CLAUDE_EVENTS)
def test_every_text_reaches_somebody_at_every_event(event: str) -> None:
    answer = envelope(
        event, merged(decision="deny", reason="REASON", context="CONTEXT", tell="TELL", keep_going="GO")
    )
    text = str(answer)
    assert all(word in text for word in ("REASON", "CONTEXT", "TELL", "GO"))
    specific = answer.get("hookSpecificOutput")
    assert specific is None or specific["hookEventName"] == event
    assert all(value not in (None, "") for value in answer.values())


def test_system_message_is_top_level() -> None:
    assert envelope("SessionStart", merged(tell="x")) == {"systemMessage": "x"}
