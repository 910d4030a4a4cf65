"""Matchers in Claude's names, compiled for clients with other names."""

import re

import pytest

from overdeck.dispatch import dialects
from overdeck.dispatch.dialects.routing import own_event, own_matcher, routes, sentinels
from overdeck.dispatch.matchers import routes as claudes
from overdeck.dispatch.plan import Module
from overdeck.wiring import clients


@pytest.mark.parametrize(
    ("client", "matcher", "tools"),
    [
        ("codex", "Bash", ["Bash"]),
        ("codex", "Write", ["apply_patch"]),
        ("codex", "MultiEdit", ["apply_patch"]),
        ("codex", "Bash|Edit|Read", ["Bash", "apply_patch", "view_image"]),
        ("codex", "apply_patch", ["apply_patch"]),
        ("codex", "Task", ["spawn_agent"]),
        ("codex", "mcp__demo__echo", ["mcp__demo__echo"]),
        ("codex", "^Wri", ["apply_patch", "?"]),
        ("codex", "WebFetch", ["WebFetch"]),
        ("gemini", "Bash", ["run_shell_command"]),
        ("gemini", "Write|Edit", ["replace", "write_file"]),
        ("gemini", "write_file", ["write_file"]),
        ("gemini", "mcp__demo__echo", ["mcp_demo_echo"]),
        ("gemini", "mcp__demo__.*", ["?"]),
        ("gemini", "Agent|Task", ["invoke_agent"]),
        ("gemini", "", ["*"]),
        ("gemini", "|", ["-"]),
        ("opencode", "Bash|Read", ["bash", "read"]),
        ("opencode", "Edit", ["apply_patch", "edit", "patch"]),
        ("opencode", "mcp__demo__echo", ["demo_echo"]),
    ],
)
def test_a_plan_holds_the_clients_own_names(client: str, matcher: str, tools: list[str]) -> None:
    assert routes(client, "PreToolUse", matcher) == tools


@pytest.mark.parametrize("matcher", ["", "*", "Bash", "Bash|mcp__x__y", "^Ba", "|", "Task"])
def test_for_claude_nothing_changes(matcher: str) -> None:
    assert routes("claude", "PreToolUse", matcher) == claudes("PreToolUse", matcher)
    assert own_event("claude", "PreToolUse") == "PreToolUse"


def test_a_session_is_matched_by_its_source_everywhere() -> None:
    assert [routes(client, "SessionStart", "startup|clear") for client in dialects.CLIENTS] == [
        ["clear", "startup"]
    ] * 3


def test_an_event_that_a_client_has_not_is_none_of_its() -> None:
    assert own_event("gemini", "PreToolUse") == "BeforeTool"
    assert [own_event(client, "StopFailure") for client in dialects.CLIENTS] == ["", "", ""]
    assert own_event("opencode", "PreCompact") == ""


@pytest.mark.parametrize("client", ["codex", "gemini"])
@pytest.mark.parametrize(
    "matchers",
    [["Bash"], ["Write|Edit", "Read"], ["mcp__my-srv__x"], ["mcp__demo__echo", "Glob"], ["Task"], ["a.b|Bash"]],
)
def test_the_settings_matcher_lets_through_exactly_what_a_plan_asks_for(client: str, matchers: list[str]) -> None:
    routed = [routes(client, "PreToolUse", matcher) for matcher in matchers]
    event = own_event(client, "PreToolUse")
    written = own_matcher(client, "PreToolUse", routed)
    asked = {name for route in routed for name in route if name != "?"}
    near = {word for name in asked for word in (f"x{name}", f"{name}x")}
    every = {
        *near,
        *dialects.of(client).TOOLS,
        "mcp_my-srv_x",
        "mcp__my-srv__x",
        "mcp_demo_echo",
        "mcp__demo__echo",
        "axb",
    }
    reads = clients.named(client).matches
    assert all(reads(written, name, event) for name in asked)
    if written != "*":
        # Codex takes its apply_patch for Edit and Write by itself
        assert not [name for name in every - asked if reads(written, name, event)]


def test_a_regex_asks_for_every_call_because_only_python_knows() -> None:
    assert own_matcher("gemini", "PreToolUse", [routes("gemini", "PreToolUse", "^mcp__"), ["write_file"]]) == "*"


def test_gemini_takes_one_word_for_a_source_so_the_plan_decides() -> None:
    assert own_matcher("gemini", "SessionStart", [["clear", "startup"]]) == "*"
    assert own_matcher("codex", "SessionStart", [["clear", "startup"]]) == "clear|startup"


def gate(matcher: str, cls: str = "gate") -> Module:
    return Module("g", cls, ["x"], matcher=matcher)


def test_python_is_woken_for_a_patch_where_a_gate_looks_at_files() -> None:
    woken = sentinels("codex", "PreToolUse", [gate("Write")])
    assert [(m.tools, m.literals, m.cls) for m in woken] == [
        (["apply_patch"], [], "observer"),
        (["Bash"], ["apply_patch", "applypatch"], "observer"),
    ]
    assert [m.tools for m in sentinels("opencode", "PreToolUse", [gate("Write")])] == [["apply_patch"]]


def test_in_codex_it_is_woken_for_a_skill_that_is_read_in_a_shell_where_a_gate_looks_at_skills() -> None:
    (woken,) = sentinels("codex", "PreToolUse", [gate("Skill")])
    assert (woken.tools, woken.literals, woken.cls) == (["Bash"], ["SKILL"], "observer")
    assert sentinels("gemini", "PreToolUse", [gate("Skill")]) == []


@pytest.mark.parametrize(
    ("client", "event", "module"),
    [
        ("codex", "PreToolUse", gate("Bash")),
        ("codex", "PreToolUse", gate("Write", "adviser")),
        ("codex", "PostToolUse", gate("Write")),
        ("gemini", "PreToolUse", gate("Write")),
        ("claude", "PreToolUse", gate("Write")),
    ],
)
def test_and_nowhere_else(client: str, event: str, module: Module) -> None:
    assert sentinels(client, event, [module]) == []


def test_no_name_can_break_out_of_a_matcher() -> None:
    written = own_matcher("gemini", "PreToolUse", [["a)|(.*", "b$"]])
    assert re.fullmatch(written, "a)|(.*") and not re.search(written, "anything")
