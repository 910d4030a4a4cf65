"""events: one typed line a call, written by the front itself, and the lines that modules add to it."""

import json
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, compiled, recorded

from overdeck.dispatch.eventlog import MAX_BYTES, TOPICS, emit
from overdeck.dispatch.module import Call
from overdeck.paths import shipped


@pytest.fixture(scope="session")
def native_front(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: the native front cannot be built here")
    return compiled(tmp_path_factory.mktemp("native"), "-O2")


@pytest.fixture(scope="module")
def fronts(native_front: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Front]:
    """Each of the two fronts with events, ratings, and a module of the user's that says events of its own."""
    made = {}
    for name, native in (("python", None), ("native", native_front)):
        front = made[name] = Front(tmp_path_factory.mktemp(name), native=native)
        folder = front.user / "builder"
        folder.mkdir()
        (folder / "module.toml").write_text('id = "builder"\nclass = "observer"\n[events]\nSessionEnd = "*"\n')
        (folder / "module.py").write_text(
            "from overdeck.dispatch.eventlog import emit\n"
            "def evaluate(call):\n"
            "    emit(call, 'custom.build.done', seconds=3, text='x' * 1000)\n"
            "    emit(call, 'build.done')\n"
        )
        front.ship("events", "ratings")
        front.install()
    return made


@pytest.fixture(params=["python", "native"])
def front(request: pytest.FixtureRequest, fronts: dict[str, Front]) -> Front:
    front = fronts[request.param]
    for name in ("events.jsonl", "events.jsonl.1"):
        (front.state / name).unlink(missing_ok=True)
    return front


def with_events(front: Front, *only: str) -> Front:
    """A front that has the module at these events alone: each event more is a plan to be made."""
    front.ship("events")
    manifest = front.modules / "events" / "module.toml"
    head, _, events = manifest.read_text().partition("[events]\n")
    chosen = [line for line in events.splitlines() if line.partition(" ")[0] in only]
    manifest.write_text("\n".join([head, "[events]", *chosen, ""]))
    front.install()
    return front


def log(front: Front) -> list[dict[str, Any]]:
    path = front.state / "events.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def without_time(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key != "ts"} for line in lines]


SAID: dict[str, dict[str, Any]] = {
    "SessionStart.startup": {"type": "session.started", "tool": "startup", "sub": False},
    "UserPromptSubmit": {"type": "prompt.submitted", "sub": False},
    "PreToolUse.Bash": {"type": "tool.called", "tool": "Bash", "sub": False},
    "PreToolUse.mcp__demo__echo": {"type": "tool.called", "tool": "mcp__demo__echo", "sub": False},
    "PostToolUse.Bash.insubagent": {"type": "tool.done", "tool": "Bash", "sub": True},
    "PostToolUseFailure.Bash": {"type": "tool.failed", "tool": "Bash", "sub": False},
    "Stop": {"type": "turn.done", "sub": False},
    "StopFailure.rate_limit": {"type": "turn.failed", "sub": False, "error": "rate_limit"},
    "SubagentStop": {"type": "agent.done", "sub": True},
    "PostCompact.manual": {"type": "context.compacted", "sub": False},
}


def test_a_call_is_one_typed_line_without_any_text_of_the_payload(front: Front) -> None:
    secret = "sk-ant-0123456789"
    wanted = []
    for name, said in SAID.items():
        payload = recorded(f"claude-code/{name}")
        for key in {"prompt", "last_assistant_message", "custom_instructions", "compact_summary"} & {*payload}:
            payload[key] = secret
        if "tool_input" in payload:
            payload["tool_input"] = {"command": f"curl -H {secret}"}
        if name.startswith("PostToolUseFailure"):
            payload["error"] = secret
        assert front.call(payload).stdout == ""
        size = len(json.dumps(payload, ensure_ascii=False).encode())
        wanted.append({"source": "events", "session": payload["session_id"], "in": size, **said})
    lines = log(front)
    assert without_time(lines) == wanted
    assert all(list(line)[:3] == ["ts", "type", "source"] for line in lines)
    assert secret not in (front.state / "events.jsonl").read_text()
    assert (front.state / "events.jsonl").stat().st_mode & 0o777 == 0o600


def test_both_fronts_write_the_same_line_in_the_same_order(fronts: dict[str, Front]) -> None:
    orders = []
    for front in fronts.values():
        before = len(log(front))
        for name in ("SessionStart.compact", "PreToolUse.mcp__demo__echo", "StopFailure.server_error"):
            front.call(recorded(f"claude-code/{name}"))
        orders.append([[*line.items()][1:] for line in log(front)[before:]])
    assert len(orders[0]) == 3
    assert orders[0] == orders[1]


def test_no_python_starts_for_it(native_front: Path, tmp_path: Path) -> None:
    front = Front(tmp_path, native=native_front)
    front.recipe.python = "/nonexistent/python3"
    with_events(front, "PreToolUse")
    assert front.call(recorded("claude-code/PreToolUse.Read")).stdout == ""
    assert [line["type"] for line in log(front)] == ["tool.called"]
    assert front.calls()[-1]["ran"] == {}


def test_it_hears_of_every_event_that_has_a_topic() -> None:
    import tomllib

    manifest = tomllib.loads(shipped("modules", "events", "module.toml").read_text())
    assert {*manifest["events"]} == {*TOPICS}
    assert len({*TOPICS.values()}) == len(TOPICS)


def test_a_module_adds_events_of_its_own_and_typed_ones_only(front: Front) -> None:
    payload = recorded("claude-code/SessionEnd.other")
    assert front.call(payload).stdout == ""
    lines = {line["type"]: line for line in log(front)}
    assert set(lines) == {"session.ended", "custom.build.done", "hook.error"}
    custom = lines["custom.build.done"]
    assert (custom["source"], custom["session"], custom["seconds"]) == ("builder", payload["session_id"], 3)
    assert len(custom["text"]) == 200
    assert "build.done" in front.errors("builder")[0]["cause"]
    error = {"source": "builder", "session": payload["session_id"], "event": "SessionEnd", "end": "error"}
    assert without_time([lines["hook.error"]]) == [{"type": "hook.error", **error}]


def test_a_type_that_nobody_defined_is_refused() -> None:
    call = Call(
        client="claude", event="Stop", tool="", input={}, payload={}, subagent=False, config={}, state="/x"
    )
    with pytest.raises(ValueError, match="no type of event"):
        emit(call, "rating.guessed")
    with pytest.raises(ValueError, match=r"rating\.captured has the fields"):
        emit(call, "rating.captured", mood="good")


def test_where_the_owner_keeps_no_events_nobody_writes_one(tmp_path: Path) -> None:
    front = Front(tmp_path)
    front.ship("ratings")
    front.install()
    front.call({**recorded("claude-code/UserPromptSubmit"), "prompt": "9"})
    assert not (front.state / "events.jsonl").exists()


def test_a_log_that_cannot_be_written_is_nobodys_error(front: Front, tmp_path: Path) -> None:
    path = front.state / "events.jsonl"
    target = tmp_path / "other"
    target.write_text("")
    for spoil in (path.mkdir, lambda: path.symlink_to(target)):
        spoil()
        reply = front.call({**recorded("claude-code/UserPromptSubmit"), "prompt": "8 - good"})
        assert reply.code == 0 and "8" in reply.answer["systemMessage"]
        assert target.read_text() == ""
        assert not front.errors("ratings")
        path.unlink() if path.is_symlink() else path.rmdir()


def test_a_disk_that_takes_nothing_is_felt_by_no_call(front: Front) -> None:
    reply = front.call(
        recorded("claude-code/PreToolUse.Read"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )
    assert (reply.code, reply.stdout, reply.stderr) == (0, "", "")
    assert log(front) == []


def test_another_clients_calls_have_the_same_types(tmp_path: Path) -> None:
    front = with_events(Front(tmp_path, client="gemini"), "PreToolUse", "Stop")
    front.call(recorded("gemini-cli/BeforeTool.run_shell_command"), "PreToolUse")
    front.call(recorded("gemini-cli/AfterAgent"), "Stop")
    assert [line["type"] for line in log(front)] == ["tool.called", "turn.done"]


def test_a_full_log_is_renamed_and_goes_on(front: Front) -> None:
    path = front.state / "events.jsonl"
    with path.open("wb") as full:
        full.truncate(MAX_BYTES)
        full.seek(MAX_BYTES)
        full.write(b"\n")
    front.call(recorded("claude-code/PreToolUse.Read"))
    assert (front.state / "events.jsonl.1").stat().st_size == MAX_BYTES + 1
    assert [line["type"] for line in log(front)] == ["tool.called"]


def test_a_module_of_the_users_may_log_there_too_but_only_what_has_a_topic(tmp_path: Path) -> None:
    from overdeck.dispatch.manifest import ManifestError, read_manifest

    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "module.toml").write_text(
        'id = "mine"\nclass = "observer"\nnative = ["type", "session"]\n[events]\nWorktreeCreate = "*"\n'
    )
    with pytest.raises(ManifestError, match="WorktreeCreate has no type"):
        read_manifest(str(folder), user=True)
