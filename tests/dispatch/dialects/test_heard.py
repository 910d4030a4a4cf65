"""Every recorded payload of every client is understood, and what is not known passes through as it is."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from fronts import PAYLOADS
from hypothesis import given
from hypothesis import strategies as st

from overdeck.dispatch import dialects
from overdeck.dispatch.dialects import gemini
from overdeck.dispatch.dialects.heard import renamed, restored
from overdeck.dispatch.matchers import CLAUDE_EVENTS, CLAUDE_TOOLS

CODEX = sorted((PAYLOADS / "codex").glob("*.json"))
GEMINI = sorted((PAYLOADS / "gemini-cli").glob("*.json"))
OPENCODE = sorted((PAYLOADS / "opencode").glob("tool.execute.*.json"))

GEMINI_EVENTS = {own: event for event, own in dialects.of("gemini").EVENTS.items()}
ONLY_GEMINIS = ("BeforeModel", "AfterModel", "BeforeToolSelection")
ONLY_CODEX = ("PreModelRequest", "PostModelRequest")


def as_plugin_sends(recorded: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What our plugin makes of a recorded call of one of its hooks."""
    before = recorded["hook"] == "tool.execute.before"
    given = recorded["input"]
    payload = {
        "session_id": given["sessionID"],
        "transcript_path": "",
        "cwd": "/home/dev/proj",
        "hook_event_name": "PreToolUse" if before else "PostToolUse",
        "tool_name": given["tool"],
        "tool_input": recorded["output"]["args"] if before else given["args"],
        "tool_use_id": given["callID"],
    }
    return payload["hook_event_name"], payload if before else {**payload, "tool_response": recorded["output"]}


def heard(client: str, path: Path) -> tuple[dict[str, Any], Any]:
    payload = json.loads(path.read_text("utf-8"))
    if client == "opencode":
        event, payload = as_plugin_sends(payload)
    else:
        event = payload["hook_event_name"]
        event = GEMINI_EVENTS[event] if client == "gemini" else event
    return payload, dialects.of(client).heard(event, payload)


def known(client: str, paths: list[Path], without: tuple[str, ...]) -> list[Any]:
    names = [path for path in paths if path.name.split(".")[0] not in without]
    return [pytest.param(client, path, id=f"{client}-{path.stem}") for path in names]


RECORDED = [
    *known("codex", CODEX, ONLY_CODEX),
    *known("gemini", GEMINI, ONLY_GEMINIS),
    *known("opencode", OPENCODE, ()),
]


@pytest.mark.parametrize(("client", "path"), RECORDED)
def test_every_recorded_payload_is_understood(client: str, path: Path) -> None:
    payload, call = heard(client, path)
    assert call.problem == ""
    assert call.top["hook_event_name"] in CLAUDE_EVENTS
    assert call.top["session_id"] == payload["session_id"]
    if "tool_name" in payload:
        assert call.calls and call.calls[0][0] == (call.top["tool_name"], call.top["tool_input"])


def test_recorded_payloads_were_found() -> None:
    assert (len(CODEX), len(GEMINI), len(OPENCODE)) == (26, 26, 19)


@pytest.mark.parametrize(
    ("client", "file", "tool", "given"),
    [
        ("codex", "PreToolUse.Bash", "Bash", {"command": "echo hi; echo err >&2"}),
        ("codex", "PreToolUse.view_image", "Read", {"file_path": "/nonexistent.png"}),
        ("codex", "PreToolUse.spawn_agent", "Agent", {"prompt": "MARK-SUB go"}),
        ("codex", "PreToolUse.mcp__demo__echo", "mcp__demo__echo", {"x": "1"}),
        ("codex", "PreToolUse.apply_patch", "Write", {"file_path": "n.txt", "content": "hello\n"}),
        ("gemini", "BeforeTool.run_shell_command", "Bash", {"command": "echo hi; exit 3", "description": "d"}),
        ("gemini", "BeforeTool.read_file", "Read", {"file_path": "/home/dev/proj/a.txt"}),
        ("gemini", "BeforeTool.write_file", "Write", {"file_path": "/home/dev/proj/n.txt", "content": "alpha\n"}),
        (
            "gemini",
            "BeforeTool.replace",
            "Edit",
            {"file_path": "/home/dev/proj/a.txt", "old_string": "one", "new_string": "ONE", "instruction": "x"},
        ),
        ("gemini", "BeforeTool.glob", "Glob", {"pattern": "*.txt"}),
        ("gemini", "BeforeTool.grep_search", "Grep", {"pattern": "ONE"}),
        ("gemini", "BeforeTool.mcp_demo_echo", "mcp__demo__echo", {"x": "1"}),
        ("gemini", "BeforeTool.list_directory", "list_directory", {"dir_path": "."}),
        ("gemini", "BeforeTool.web_fetch", "WebFetch", {"prompt": "get http://127.0.0.1:1/"}),
        ("opencode", "tool.execute.before.bash", "Bash", {"command": "echo hi; exit 3", "description": "d"}),
        ("opencode", "tool.execute.before.read", "Read", {"file_path": "/home/dev/proj/a.txt"}),
        (
            "opencode",
            "tool.execute.before.edit",
            "Edit",
            {"file_path": "/home/dev/proj/a.txt", "old_string": "one", "new_string": "ONE"},
        ),
        (
            "opencode",
            "tool.execute.before.write",
            "Write",
            {"file_path": "/home/dev/proj/n.txt", "content": "alpha\n"},
        ),
        (
            "opencode",
            "tool.execute.before.task",
            "Agent",
            {"description": "d", "prompt": "MARK-SUB do it", "subagent_type": "general"},
        ),
    ],
)
def test_a_call_is_in_claudes_words(client: str, file: str, tool: str, given: dict[str, Any]) -> None:
    folder = "gemini-cli" if client == "gemini" else client
    _, call = heard(client, PAYLOADS / folder / f"{file}.json")
    assert call.calls[0][0] == (tool, given)


def test_geminis_subagent_is_one_in_claudes_words() -> None:
    asked = {"tool_name": "invoke_agent", "tool_input": {"agent_name": "generalist", "prompt": "go"}}
    call = gemini.heard("PreToolUse", asked)
    assert call.calls == [[("Agent", {"subagent_type": "generalist", "prompt": "go"})]]


def test_a_result_of_a_command_has_what_was_printed_where_claude_has_it() -> None:
    for client, file, said in (
        ("codex", "codex/PostToolUse.Bash", "err\nhi\n"),
        ("gemini", "gemini-cli/AfterTool.run_shell_command", "hi"),
        ("opencode", "opencode/tool.execute.after.bash", "hi\n"),
    ):
        _, call = heard(client, PAYLOADS / f"{file}.json")
        assert call.top["tool_response"]["stdout"] == said


def test_gemini_says_what_a_file_was_before_an_edit_as_claude_does() -> None:
    _, call = heard("gemini", PAYLOADS / "gemini-cli" / "AfterTool.replace.json")
    assert call.top["tool_response"]["originalFile"] == "one\n"


def test_a_server_of_opencode_is_known_by_the_name_the_plugin_gives() -> None:
    payload = {"tool_name": "my_demo_echo", "tool_input": {}, "mcp_server": "my_demo"}
    assert dialects.of("opencode").heard("PreToolUse", payload).top["tool_name"] == "mcp__my_demo__echo"
    assert dialects.of("opencode").names("my_demo_echo", {}) == ("my_demo_echo",)


@pytest.mark.parametrize(
    ("command", "skills"),
    [
        ("cat ~/.codex/skills/alpha/SKILL.md", ["alpha"]),
        ("sed -n '1,200p' \"/home/dev/.agents/skills/.system/alpha/SKILL.md\"", ["alpha"]),
        ("cd .codex/skills/alpha && cat SKILL.md", ["alpha"]),
        ("head -99 ~/.codex/skills/alpha/SKILL*", ["alpha"]),
        ("cat r/skills/a/SKILL.md r/skills/b/SKILL.md;cat r/skills/a/SKILL.md", ["a", "b"]),
        ("for s in a b; do cat skills/$s/SKILL.md; done", ["$s"]),
        ("cat skills/alpha/README.md", []),
        ("cat SKILL.md", []),
        ("cat skills/SKILL.md", []),
    ],
)
def test_a_skill_that_codex_reads_in_a_shell_is_a_skill(command: str, skills: list[str]) -> None:
    payload = {"tool_name": "Bash", "tool_input": {"command": command}}
    heard = dialects.of("codex").heard("PreToolUse", payload)
    assert heard.calls[0] == [("Bash", {"command": command})]
    assert heard.calls[1:] == [[("Skill", {"skill": skill})] for skill in skills]
    assert (heard.top["tool_name"], heard.hidden) == ("Bash", bool(skills))


def test_a_command_that_names_very_many_skills_is_read_in_no_time() -> None:
    command = "cat SKILL.md " + " ".join(f"skills/{number}" for number in range(100_000))
    begun = time.process_time()
    heard = dialects.of("codex").heard("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": command}})
    assert len(heard.calls) == 100_001
    assert time.process_time() - begun < 5  # in the square of their number it would be minutes


def test_a_skill_and_a_patch_in_one_shell_command_are_both_seen() -> None:
    patch = "*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\n"
    command = f"cat skills/alpha/SKILL.md; apply_patch <<'EOF'\n{patch}EOF"
    heard = dialects.of("codex").heard("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": command}})
    assert [one[0][0] for one in heard.calls] == ["Bash", "Skill", "Write"]


def test_reading_many_files_is_a_read_of_each() -> None:
    payload = {
        "tool_name": "read_many_files",
        "tool_input": {"include": ["a", ".env"]},
        "hook_event_name": "BeforeTool",
    }
    calls = dialects.of("gemini").heard("PreToolUse", payload).calls
    assert [one[0][1]["file_path"] for one in calls] == ["a", ".env"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda v: st.lists(v, max_size=2)
)
INPUTS = st.dictionaries(st.text(max_size=6) | st.sampled_from(["filePath", "file_path", "command", "path"]), JSON)


@pytest.mark.parametrize("client", dialects.CLIENTS)
@given(tool=st.text(max_size=12), given=INPUTS)
def test_an_unknown_tool_passes_through_as_it_is(client: str, tool: str, given: dict[str, Any]) -> None:
    dialect = dialects.of(client)
    if tool in dialect.TOOLS or tool.startswith("mcp_"):
        return
    call = dialect.heard("PreToolUse", {"tool_name": tool, "tool_input": given})
    assert (call.top["tool_name"], call.top["tool_input"], call.problem) == (tool, given, "")
    assert dialect.names(tool, {}) == (tool,)
    assert dialect.own_input(tool, given) == given


@pytest.mark.parametrize("client", dialects.CLIENTS)
@given(given=INPUTS, data=st.data())
def test_an_input_that_nobody_changed_goes_back_as_it_came(client: str, given: dict[str, Any], data: Any) -> None:
    dialect = dialects.of(client)
    tool = data.draw(st.sampled_from(sorted(set(dialect.TOOLS) - {"apply_patch", "patch", "read_many_files"})))
    call = dialect.heard("PreToolUse", {"tool_name": tool, "tool_input": given})
    if not {"file_path", "path"} & set(given):  # Claude's names, which the client would not understand
        assert dialect.own_input(tool, call.top["tool_input"]) == given


@given(given=INPUTS)
def test_where_both_names_of_a_key_are_there_the_one_the_client_uses_counts(given: dict[str, Any]) -> None:
    both = {"filePath": ".env", "file_path": "harmless", **{k: v for k, v in given.items() if "ile" not in k}}
    assert renamed(both, {"filePath": "file_path"})["file_path"] == ".env"
    assert renamed(dict(reversed(both.items())), {"filePath": "file_path"})["file_path"] == ".env"
    assert restored({"file_path": "x"}, {"filePath": "file_path"}) == {"filePath": "x"}


@pytest.mark.parametrize("client", dialects.CLIENTS)
@given(
    payload=st.dictionaries(st.sampled_from(["tool_name", "tool_input", "tool_response", "prompt_response"]), JSON)
)
def test_no_payload_of_any_shape_breaks_a_dialect(client: str, payload: dict[str, Any]) -> None:
    for event in ("PreToolUse", "PostToolUse", "Stop"):
        dialects.of(client).heard(event, payload)


@pytest.mark.parametrize("client", dialects.CLIENTS)
def test_tools_are_claudes_and_so_are_events(client: str) -> None:
    dialect = dialects.of(client)
    assert set(dialect.TOOLS.values()) <= {*CLAUDE_TOOLS, "MultiEdit", "TodoWrite"}
    assert set(dialect.EVENTS) <= set(CLAUDE_EVENTS)
