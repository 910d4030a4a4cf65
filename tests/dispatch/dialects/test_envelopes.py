"""Every verdict at every event of every client: exact JSON, or told, or recorded; never lost."""

import itertools
from typing import Any

import pytest

from overdeck.dispatch import dialects
from overdeck.dispatch.merge import Merged


def merged(**fields: Any) -> Merged:
    made = Merged()
    for key, value in fields.items():
        setattr(made, key, value)
    return made


DENY = {"decision": "deny", "reason": "R"}
ASK = {"decision": "ask", "reason": "R"}
DEFER = {"decision": "defer"}
ALLOW = {"decision": "allow", "reason": "R"}
STOP = {"decision": "deny", "reason": "R", "stop": "R"}
GO_ON = {"keep_going": "R"}
ADVISE = {"context": "C"}
TELL = {"tell": "T"}
REWRITE = {"input": {"command": "x"}}


def asks(client: str, what: str = "ask") -> str:
    why = f"[overdeck] {client} cannot {what} from a hook, so this is refused: the owner decides, then it can be done."
    return f"R\n{why}" if what == "ask" else why


def pre(**specific: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **specific}}


def codex_deny(reason: str = "R") -> dict[str, Any]:
    return pre(permissionDecision="deny", permissionDecisionReason=reason)


def block(reason: str = "R") -> dict[str, str]:
    return {"decision": "block", "reason": reason}


def gemini_deny(reason: str = "R") -> dict[str, str]:
    return {"decision": "deny", "reason": reason}


def context(event: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "C"}}


def tells(text: str) -> dict[str, str]:
    return {"systemMessage": text}


END = {"continue": False, "stopReason": "R"}

TABLE = [
    ("codex", "PreToolUse", DENY, codex_deny()),
    ("codex", "PreToolUse", ASK, codex_deny(asks("Codex"))),
    ("codex", "PreToolUse", DEFER, codex_deny(asks("Codex", "defer"))),
    ("codex", "PreToolUse", ALLOW, {}),
    ("codex", "PreToolUse", STOP, {**codex_deny(), **tells("PreToolUse cannot end the turn: R")}),
    ("codex", "PreToolUse", GO_ON, tells("PreToolUse cannot keep a turn going: R")),
    ("codex", "PreToolUse", ADVISE, context("PreToolUse")),
    ("codex", "PreToolUse", TELL, tells("T")),
    ("codex", "PreToolUse", REWRITE, pre(permissionDecision="allow", updatedInput={"command": "x"})),
    (
        "codex",
        "PermissionRequest",
        DENY,
        {
            "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": {"behavior": "deny", "message": "R"},
            }
        },
    ),
    ("codex", "PermissionRequest", ASK, tells("R")),
    (
        "codex",
        "PermissionRequest",
        {**ALLOW, **REWRITE},
        {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}},
    ),
    ("codex", "PermissionRequest", ADVISE, tells("C")),
    ("codex", "PostToolUse", DENY, block()),
    ("codex", "PostToolUse", STOP, {**block(), **tells("PostToolUse cannot end the turn: R")}),
    ("codex", "PostToolUse", ADVISE, context("PostToolUse")),
    ("codex", "UserPromptSubmit", DENY, block()),
    ("codex", "UserPromptSubmit", ADVISE, context("UserPromptSubmit")),
    ("codex", "SessionStart", DENY, tells("SessionStart cannot block: R")),
    ("codex", "SessionStart", {"stop": "R"}, END),
    ("codex", "SessionStart", ADVISE, context("SessionStart")),
    ("codex", "Stop", GO_ON, block()),
    ("codex", "Stop", ADVISE, tells("C")),
    ("codex", "Stop", {"stop": "R"}, END),
    ("codex", "SubagentStop", GO_ON, block()),
    ("codex", "SubagentStart", ADVISE, context("SubagentStart")),
    ("codex", "PreCompact", DENY, tells("PreCompact cannot block: R")),
    ("codex", "PreCompact", STOP, END),
    ("codex", "PostCompact", STOP, END),
    ("codex", "SubagentStop", {"stop": "R"}, END),
    ("codex", "SubagentStart", {"stop": "R"}, tells("SubagentStart cannot end the turn: R")),
    ("codex", "SessionEnd", {"stop": "R"}, tells("SessionEnd cannot end the turn: R")),
    ("gemini", "PreToolUse", DENY, gemini_deny()),
    ("gemini", "PreToolUse", ASK, gemini_deny(asks("Gemini CLI"))),
    ("gemini", "PreToolUse", DEFER, gemini_deny(asks("Gemini CLI", "defer"))),
    ("gemini", "PreToolUse", ALLOW, {}),
    ("gemini", "PreToolUse", STOP, {**gemini_deny(), **END}),
    ("gemini", "PreToolUse", GO_ON, tells("BeforeTool cannot block: R")),
    ("gemini", "PreToolUse", ADVISE, tells("C")),
    ("gemini", "PreToolUse", TELL, tells("T")),
    (
        "gemini",
        "PreToolUse",
        REWRITE,
        {"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": "x"}}},
    ),
    ("gemini", "PostToolUse", DENY, gemini_deny()),
    ("gemini", "PostToolUse", ADVISE, context("AfterTool")),
    ("gemini", "PostToolUse", STOP, {**gemini_deny(), **END}),
    ("gemini", "PreToolUse", {**DENY, "stop": "S"}, {**gemini_deny(), "continue": False, "stopReason": "R\nS"}),
    ("gemini", "UserPromptSubmit", DENY, gemini_deny()),
    ("gemini", "UserPromptSubmit", STOP, gemini_deny()),
    ("gemini", "Stop", {"stop": "R"}, END),
    ("gemini", "UserPromptSubmit", ADVISE, context("BeforeAgent")),
    ("gemini", "SessionStart", ADVISE, context("SessionStart")),
    ("gemini", "SessionStart", DENY, tells("SessionStart cannot block: R")),
    ("gemini", "Stop", GO_ON, gemini_deny()),
    ("gemini", "Stop", ADVISE, tells("C")),
    ("gemini", "PreCompact", DENY, tells("PreCompress cannot block: R")),
    ("gemini", "Notification", {"stop": "R"}, tells("Notification cannot end the turn: R")),
    ("opencode", "PreToolUse", DENY, codex_deny()),
    ("opencode", "PreToolUse", ASK, codex_deny(asks("OpenCode"))),
    ("opencode", "PreToolUse", ALLOW, {}),
    ("opencode", "PreToolUse", STOP, {**codex_deny(), **tells("OpenCode's plugins cannot end a turn: R")}),
    ("opencode", "PreToolUse", ADVISE, context("PreToolUse")),
    ("opencode", "PreToolUse", REWRITE, pre(updatedInput={"command": "x"})),
    ("opencode", "PostToolUse", DENY, block()),
    ("opencode", "PostToolUse", ADVISE, context("PostToolUse")),
    ("opencode", "UserPromptSubmit", DENY, block()),
    ("opencode", "UserPromptSubmit", ADVISE, context("UserPromptSubmit")),
    ("opencode", "SessionStart", ADVISE, context("SessionStart")),
    ("opencode", "Stop", GO_ON, tells("OpenCode cannot keep a turn going: R")),
    ("opencode", "Stop", ADVISE, tells("C")),
]


@pytest.mark.parametrize(("client", "event", "verdict", "answer"), TABLE)
def test_a_verdict_is_exactly_this(
    client: str, event: str, verdict: dict[str, Any], answer: dict[str, Any]
) -> None:
    assert dialects.of(client).envelope(event, merged(**verdict))[0] == answer


VERDICTS = (DENY, ASK, DEFER, ALLOW, STOP, GO_ON, ADVISE, TELL, REWRITE, {"stop": "R"})
ALL = [(client, event) for client in dialects.CLIENTS for event in dialects.of(client).EVENTS]


@pytest.mark.parametrize(("client", "event"), ALL)
def test_nothing_to_say_is_silence(client: str, event: str) -> None:
    assert dialects.of(client).envelope(event, merged()) == ({}, [])


@pytest.mark.parametrize(("client", "event"), ALL)
def test_every_text_reaches_somebody_or_the_record(client: str, event: str) -> None:
    texts = {"reason": "REASON", "context": "CONTEXT", "tell": "TELL", "keep_going": "GO-ON", "stop": "STOP"}
    for decision in ("deny", "ask", "defer", "allow"):
        fields = {**texts, "decision": decision}
        if decision == "allow":
            del fields["stop"]  # a stop is a deny as well (merge)
        answer, lost = dialects.of(client).envelope(event, merged(**fields))
        said = f"{answer} {lost}"
        unsaid = {text for key, text in texts.items() if key in fields and text not in said}
        # an allow is a permission, not a text: where there is no call to permit, there is nothing to tell
        allowed = {"REASON"} if decision == "allow" else set()
        assert unsaid <= allowed, (decision, answer, lost)


CODEX_KEYS = {
    "PreToolUse": {"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"},
    "PermissionRequest": {"decision"},
    "PostToolUse": {"additionalContext"},
    "UserPromptSubmit": {"additionalContext"},
    "SessionStart": {"additionalContext"},
    "SubagentStart": {"additionalContext"},
}
"""What an event's ``hookSpecificOutput`` may hold (Codex's published schemas); one more key loses the answer."""
CODEX_DECIDES = ("PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop")
CODEX_NO_UNIVERSAL = ("PreToolUse", "PermissionRequest")


@pytest.mark.parametrize("event", dialects.of("codex").EVENTS)
def test_codex_never_gets_a_key_that_would_lose_the_answer(event: str) -> None:
    for several in itertools.chain.from_iterable(itertools.combinations(VERDICTS, n) for n in (1, 2, 3)):
        fields: dict[str, Any] = {}
        for verdict in reversed(several):
            fields |= verdict
        if fields.get("decision") in ("deny", "defer"):
            fields.pop("input", None)  # a refused call is not rewritten (merge)
        answer, _ = dialects.of("codex").envelope(event, merged(**fields))
        top = {"systemMessage", "hookSpecificOutput"}
        top |= {"decision", "reason"} if event in CODEX_DECIDES else set()
        top |= set() if event in CODEX_NO_UNIVERSAL else {"continue", "stopReason"}
        assert set(answer) <= top
        specific = answer.get("hookSpecificOutput", {"hookEventName": event})
        assert specific["hookEventName"] == event
        assert set(specific) - {"hookEventName"} <= CODEX_KEYS.get(event, set())
        assert ("reason" in answer) == ("decision" in answer)
        assert all(value not in ("", None) for value in (*answer.values(), *specific.values()))
        if specific.get("permissionDecision") == "allow":
            assert "updatedInput" in specific and "permissionDecisionReason" not in specific


@pytest.mark.parametrize("client", dialects.CLIENTS)
@pytest.mark.parametrize("verdict", [ASK, DEFER])
def test_what_the_owner_should_decide_never_lets_a_tool_run(client: str, verdict: dict[str, Any]) -> None:
    answer, _ = dialects.of(client).envelope("PreToolUse", merged(**verdict, **REWRITE))
    assert "deny" in str(answer) and "updatedInput" not in str(answer) and "tool_input" not in str(answer)
    assert "the owner decides" in str(answer)
