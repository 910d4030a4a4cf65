"""The native loggers of the pack evidence through the front: what they write, and what they never write."""

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from evidenced import EVIDENCE, STARTED, switch_on, used, with_a_gate, written
from fronts import Front, recorded

from overdeck.dispatch import planning
from overdeck.dispatch.manifest import ManifestError, read_manifest
from overdeck.dispatch.plan import NATIVE_MORE
from overdeck.paths import shipped


@pytest.fixture
def evidence(front: Front) -> Front:
    """All three on, and nothing replayed. There is a plan of one event; a call of another makes its own."""
    return switch_on(front, "PostToolUse", ids=EVIDENCE)


SECRET = "hunter2-SECRET"


def test_a_tool_call_is_one_line_of_the_journal_and_one_of_the_spool_with_names_and_sizes(evidence: Front) -> None:
    payload = used()
    assert evidence.call(payload).stdout == ""
    (journal,), (captured,) = written(evidence, "journal"), written(evidence, "capture")
    size = len(json.dumps(payload))
    facts = {"event": "PostToolUse", "tool": "Bash", "session": "s", "sub": False, "in": size}
    assert {**journal, "ts": ""} == {"ts": "", **facts}
    assert {**captured, "ts": "", "id": ""} == {"ts": "", "id": "", **facts}
    assert written(evidence, "ledger") == [], "a ledger of sessions has no tool calls"


def test_a_session_and_its_subagents_are_lines_of_the_ledger(evidence: Front) -> None:
    evidence.call(STARTED)
    for event in ("SubagentStart", "SubagentStop"):
        evidence.call({"hook_event_name": event, "session_id": "s", "agent_id": "a1", "agent_type": "Explore"})
    evidence.call({"hook_event_name": "SessionEnd", "session_id": "s", "reason": "exit"})
    assert [(line["event"], line["tool"], line["sub"]) for line in written(evidence, "ledger")] == [
        ("SessionStart", "startup", False), ("SubagentStart", "", True),
        ("SubagentStop", "", True), ("SessionEnd", "", False),
    ]  # fmt: skip


def test_no_prompt_no_input_no_output_no_path_is_written_anywhere(evidence: Front) -> None:
    evidence.call(
        used(tool_input={"command": f"login {SECRET}"}, tool_response={"stdout": SECRET}, cwd=f"/{SECRET}")
    )
    evidence.call({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": SECRET})
    evidence.call({"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": SECRET})
    evidence.call({**used(error=SECRET), "hook_event_name": "PostToolUseFailure"})
    assert len(written(evidence, "capture")) == 4
    found = subprocess.run(["grep", "-r", SECRET, str(evidence.state)], capture_output=True, check=False)
    assert found.stdout == b""


@pytest.mark.parametrize("module", EVIDENCE)
def test_what_ships_logs_neither_folder_nor_agent_unless_the_config_asks(module: str) -> None:
    manifest = read_manifest(str(shipped("modules", module)))
    assert manifest.native is not None and not set(manifest.native) & set(NATIVE_MORE)
    assert manifest.config == {"more": []} and not manifest.main_only


def test_the_config_may_ask_for_the_folder_and_the_agent(front: Front) -> None:
    switch_on(front, "PostToolUse", ids=EVIDENCE, more='more = ["agent", "cwd"]')
    front.call(used(agent_id="a1"))
    (captured,) = written(front, "capture")
    assert (captured["cwd"], captured["agent"]) == ("/home/dev/proj", "a1")
    assert "cwd" not in written(front, "journal")[0]


@pytest.mark.parametrize("more", ['["prompt"]', '["tool_input"]', "[5]", '"cwd"'])
def test_anything_else_cannot_be_asked_for(tmp_path: Path, more: str) -> None:
    front = Front(tmp_path)
    front.recipe.shipped = str(shipped("modules"))
    front.config.write_text(f'packs = ["evidence"]\n[modules.capture]\nmore = {more}\n')
    (problem,) = planning.load(front.recipe).problems
    assert isinstance(problem, ManifestError) and "[modules.capture] more" in str(problem)


def test_what_is_written_is_the_owners_alone(evidence: Front) -> None:
    evidence.call(STARTED)
    evidence.call(used())
    made = list((evidence.state / "modules").rglob("*"))
    assert len(made) == 6
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {0o700}


ODD: list[dict[str, Any]] = [
    {}, {"cwd": "/home/dév/ß 文"}, {"cwd": "/" + "x" * 1100}, {"cwd": "/" + "x" * 1000}, {"cwd": 5}, {"cwd": None},
    {"agent_id": "a" * 300}, {"agent_id": None}, {"agent_id": {"a": 1}}, {"session_id": "s" * 201}, {"session_id": []},
    {"tool_name": "mcp__x__y"}, {"tool_name": ""}, {"cwd": 'a"b'}, {"cwd": "a\\b"}, {"cwd": "a\nb"},
]  # fmt: skip


def test_both_fronts_write_the_same_line(tmp_path: Path, native_front: Path) -> None:
    lines = []
    for native in (None, native_front):
        front = Front(tmp_path / ("native" if native else "python"), native=native)
        switch_on(front, "PostToolUse", ids=EVIDENCE, more='more = ["cwd", "agent"]')
        for extra in ODD:
            front.call(used(**extra))
        found = written(front, "capture")
        assert len(found) == len(ODD) and all(len(line["id"]) == 32 and line["ts"] for line in found)
        lines.append([[pair for pair in line.items() if pair[0] not in ("ts", "id")] for line in found])
    assert lines[0] == lines[1]


def test_every_call_has_an_id_of_its_own(evidence: Front) -> None:
    for _ in range(20):
        evidence.call(used())
    assert len({line["id"] for line in written(evidence, "capture")}) == 20


@pytest.mark.parametrize("tool", ["Bash", "Read", "mcp__db__query"])
def test_what_always_acts_starts_no_python(tmp_path: Path, native_front: Path, tool: str) -> None:
    """With every module that ships on."""
    front = Front(tmp_path, native=native_front)
    switch_on(front, "PostToolUse", ids=[path.parent.name for path in shipped("modules").glob("*/module.toml")])
    before = len(front.calls())
    front.call(used(tool_name=tool))
    assert [line["ran"] for line in front.calls()[before:]] == [{}]
    assert len(written(front, "capture")) == len(written(front, "journal")) == 1


def test_the_line_is_there_before_any_module_is_asked(front: Front) -> None:
    folder = front.user / "reader"
    folder.mkdir()
    (folder / "module.py").write_text(
        "import posix\nfrom overdeck.dispatch.module import advise\n\n"
        "def evaluate(call):\n    path = call.state.replace('/reader', '/capture/spool.jsonl')\n"
        "    return advise('there' if posix.stat(path).st_size else 'not')\n"
    )
    (folder / "module.toml").write_text('id = "reader"\nclass = "adviser"\n[events]\nSessionStart = "*"\n')
    switch_on(front, "PostToolUse", "SessionStart", ids=EVIDENCE)
    assert front.call(STARTED).context == "[reader] there"


WAYS = ["a stale plan", "no plan", "a bundle that does not start", "a gate that acts"]


@pytest.mark.parametrize("how", WAYS)
def test_a_call_is_one_line_whatever_way_it_goes(front: Front, how: str) -> None:
    with_a_gate(front)
    switch_on(front, "PostToolUse", ids=EVIDENCE)
    if how == "a stale plan":
        os.utime(front.config)
    elif how == "no plan":
        (front.plans / "PostToolUse.plan").unlink()
    elif how == "a bundle that does not start":
        for bundle in front.plans.glob("bundle-*.pyc"):
            bundle.write_bytes(b"nonsense")
    front.call(used())
    assert len(written(front, "capture")) == len(written(front, "journal")) == 1


def test_a_call_is_one_line_where_python_is_gone(tmp_path: Path, native_front: Path) -> None:
    front = Front(tmp_path, native=native_front)
    with_a_gate(front)
    front.recipe.python = str(front.root / "no-python")
    switch_on(front, "PostToolUse", ids=EVIDENCE)
    assert "Python did not start" in front.call(used()).stdout
    assert len(written(front, "capture")) == len(written(front, "journal")) == 1


OF_CLIENTS = [("codex", "codex", "PostToolUse.mcp__demo__echo", "PostToolUse", "mcp__demo__echo"),
              ("codex", "codex", "PostToolUse.Bash.insubagent", "PostToolUse", "Bash"),
              ("codex", "codex", "SessionStart.resume", "SessionStart", "resume"),
              ("gemini", "gemini-cli", "AfterTool.run_shell_command", "PostToolUse", "run_shell_command"),
              ("gemini", "gemini-cli", "AfterAgent", "Stop", "")]  # fmt: skip


@pytest.mark.parametrize("native", [False, True], ids=["python", "native"])
@pytest.mark.parametrize(("client", "folder", "file", "event", "tool"), OF_CLIENTS)
def test_other_clients_calls_are_captured_too(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    client: str,
    folder: str,
    file: str,
    event: str,
    tool: str,
    native: bool,
) -> None:
    """By Claude's name of the event, and the client's own of the tool."""
    built = request.getfixturevalue("native_front") if native else None
    front = switch_on(Front(tmp_path, native=built, client=client), event, ids=EVIDENCE)
    payload = recorded(f"{folder}/{file}")
    front.call(payload, event)
    (line,) = written(front, "capture")
    assert (line["event"], line["tool"], line["session"]) == (event, tool, payload["session_id"])
    assert line["sub"] == ("agent_id" in payload)
