"""Recorded payloads of Codex, Gemini CLI and OpenCode through both fronts, with modules that know Claude's names."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, Reply, recorded

from overdeck.dispatch import dialects
from overdeck.dispatch.plan import parse

FOLDER = {"codex": "codex", "gemini": "gemini-cli", "opencode": "opencode"}
BASH = {"codex": "PreToolUse.Bash", "gemini": "BeforeTool.run_shell_command"}
STOP = {"codex": "Stop", "gemini": "AfterAgent"}


@pytest.fixture(params=["python", "native"])
def fronts(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Front]:
    native = request.getfixturevalue("native_front") if request.param == "native" else None
    return lambda client: Front(tmp_path / client, native=native, client=client)


def opencode(tool: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A payload as our plugin makes it."""
    base = {"session_id": "ses_1", "transcript_path": "", "cwd": "/home/dev/proj", "hook_event_name": "PreToolUse"}
    return {**base, "tool_name": tool, "tool_input": given, "tool_use_id": "toolu_1", **more}


def call(front: Front, payload: dict[str, Any]) -> Reply:
    """Send a payload to the entry that is installed for it: entries name events as Claude does."""
    own = {own: event for event, own in dialects.of(front.recipe.client).EVENTS.items()}
    named = payload["hook_event_name"]
    return front.call(payload, named if front.recipe.client == "opencode" else own[named])


def bash(client: str, command: str) -> dict[str, Any]:
    if client == "opencode":
        return opencode("bash", {"command": command, "description": "d"})
    payload = recorded(f"{FOLDER[client]}/{BASH[client]}")
    payload["tool_input"]["command"] = command
    return payload


def refused(client: str, reply: Reply) -> str:
    """Why a call is refused, read as that client reads it; empty where it is not."""
    if client == "gemini":
        assert set(reply.answer) <= {"decision", "reason", "systemMessage", "continue", "stopReason"}
        return reply.answer.get("reason", "") if reply.answer.get("decision") == "deny" else ""
    return reply.reason if reply.decision == "deny" else ""


@pytest.mark.parametrize("client", FOLDER)
def test_a_gate_for_bash_denies_in_the_clients_own_form(fronts: Any, client: str) -> None:
    front = fronts(client)
    front.module("gate", "return deny(call.tool + call.input['command'])", toml='literals = ["forbidden"]')
    front.install()
    assert "Bashforbidden" in refused(client, call(front, bash(client, "forbidden")))
    assert call(front, bash(client, "echo hi")).stdout == ""
    lines = front.calls()
    assert [line["ran"].get("gate", {}).get("end") for line in lines] == ["fire", None]
    assert {(line["client"], line["event"]) for line in lines} == {(client, "PreToolUse")}
    assert not any("err" in line for line in lines)


@pytest.mark.parametrize("client", FOLDER)
def test_a_call_that_no_module_is_for_starts_nothing(fronts: Any, client: str) -> None:
    front = fronts(client)
    front.module("gate", "return deny('no')", events={"PreToolUse": "WebSearch"})
    front.install()
    assert call(front, bash(client, "forbidden")).stdout == ""
    assert front.calls()[0]["ran"] == {}


@pytest.mark.parametrize("client", FOLDER)
def test_the_native_front_decides_that_by_itself(native_front: Path, tmp_path: Path, client: str) -> None:
    front = Front(tmp_path, native=native_front, client=client)
    front.module("gate", "return deny('no')", toml='literals = ["forbidden"]')
    front.recipe.python = "/bin/false"
    front.install()
    assert call(front, bash(client, "echo hi")).stdout == ""
    assert "Python did not start" in call(front, bash(client, "forbidden")).answer["systemMessage"]


def test_a_literal_of_the_whole_payload_skips_nothing_because_another_client_says_it_in_other_words(
    fronts: Any,
) -> None:
    front = fronts("gemini")
    toml = 'literals = ["PreToolUse"]\nliterals_in = "payload"'
    front.module("gate", "return deny(call.payload['hook_event_name'])", toml=toml)
    front.install()
    assert "PreToolUse" in refused("gemini", call(front, bash("gemini", "x")))


@pytest.mark.parametrize("client", FOLDER)
@pytest.mark.parametrize("failure", ["raise ValueError('x')", "import os; os._exit(3)", "return 'nonsense'"])
def test_a_gate_that_fails_denies(fronts: Any, client: str, failure: str) -> None:
    front = fronts(client)
    front.module("gate", failure)
    front.install()
    assert "could not decide" in refused(client, call(front, bash(client, "x")))


@pytest.mark.parametrize("client", FOLDER)
def test_gates_deny_when_python_dies_under_them(fronts: Any, client: str) -> None:
    front = fronts(client)
    front.module("gate", "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(5)")
    front.install()
    if front.native is None:
        return  # nobody is left to speak then: only the native front is a guardian
    assert "gate" in refused(client, call(front, bash(client, "x")))


@pytest.mark.parametrize("client", FOLDER)
def test_a_payload_that_cannot_be_read_is_denied(fronts: Any, client: str) -> None:
    front = fronts(client)
    front.module("gate", "return None")
    front.install()
    assert "could not decide" in refused(client, front.call(b'{"tool_name": "Bash", "tool_in', "PreToolUse"))


@pytest.mark.parametrize("client", FOLDER)
def test_what_the_owner_should_decide_is_refused_and_says_so(fronts: Any, client: str) -> None:
    front = fronts(client)
    front.module("gate", "return ask('sure?')")
    front.install()
    reason = refused(client, call(front, bash(client, "x")))
    assert "sure?" in reason and "cannot ask from a hook" in reason


def rewritten(client: str, reply: Reply) -> Any:
    if client == "gemini":
        assert reply.specific["hookEventName"] == "BeforeTool"
        return reply.specific["tool_input"]
    assert reply.decision == ("allow" if client == "codex" else "")
    return reply.specific["updatedInput"]


@pytest.mark.parametrize("client", FOLDER)
def test_a_rewrite_goes_back_in_the_clients_own_words_after_the_gates_have_seen_it(
    fronts: Any, client: str
) -> None:
    front = fronts(client)
    front.module(
        "rewriter", "return rewrite({**call.input, 'command': call.input['command'] + ' more'})", cls="rewriter"
    )
    front.module("gate", "return deny('seen') if 'bad more' in call.input['command'] else None")
    front.install()
    payload = bash(client, "echo")
    assert rewritten(client, call(front, payload)) == {**payload["tool_input"], "command": "echo more"}
    assert "seen" in refused(client, call(front, bash(client, "bad")))


def test_a_rewritten_path_has_opencodes_name_again(fronts: Any) -> None:
    front = fronts("opencode")
    body = "return rewrite({**call.input, 'file_path': '/elsewhere'})"
    front.module("rewriter", body, cls="rewriter", events={"PreToolUse": "Write"})
    front.install()
    reply = call(front, opencode("write", {"filePath": "/a", "content": "x"}))
    assert reply.specific["updatedInput"] == {"content": "x", "filePath": "/elsewhere"}


@pytest.mark.parametrize("client", FOLDER)
def test_main_only_modules_are_skipped_in_a_subagent(fronts: Any, client: str) -> None:
    front = fronts(client)
    front.module("gate", "return deny('no')", toml="main_only = true")
    front.install()
    assert refused(client, call(front, bash(client, "x")))
    assert call(front, {**bash(client, "x"), "agent_id": "a1"}).stdout == ""


@pytest.mark.parametrize(
    ("client", "file"), [("codex", "PreToolUse.mcp__demo__echo"), ("gemini", "BeforeTool.mcp_demo_echo")]
)
@pytest.mark.parametrize("matcher", ["mcp__demo__echo", "mcp__demo__.*"])
def test_a_tool_of_a_server_is_matched_by_claudes_name(fronts: Any, client: str, file: str, matcher: str) -> None:
    front = fronts(client)
    front.module("gate", "return deny(call.tool)", events={"PreToolUse": matcher})
    front.module("other", "return deny('other')", events={"PreToolUse": "mcp__other__.*"})
    front.install()
    reason = refused(client, call(front, recorded(f"{FOLDER[client]}/{file}")))
    assert "mcp__demo__echo" in reason and "other" not in reason


def test_context_after_a_tool_arrives_where_each_client_looks_for_it(fronts: Any) -> None:
    for client, file in (("codex", "PostToolUse.Bash"), ("gemini", "AfterTool.run_shell_command")):
        front = fronts(client)
        body = "return advise(call.tool + call.payload['tool_response']['stdout'])"
        front.module("adviser", body, cls="adviser", events={"PostToolUse": "Bash"})
        front.install()
        reply = call(front, recorded(f"{FOLDER[client]}/{file}"))
        assert "Bash" in reply.context and "hi" in reply.context
        assert reply.specific["hookEventName"] == recorded(f"{FOLDER[client]}/{file}")["hook_event_name"]


def test_what_kept_a_turn_going_is_no_prompt_of_the_owner_where_gemini_hands_it_back(fronts: Any) -> None:
    front = fronts("gemini")
    front.module("stop", "return keep_going('was it published?')", events={"Stop": "*"})
    front.module("ear", "return advise('heard ' + call.payload['prompt'])", events={"UserPromptSubmit": "*"})
    front.install()
    said = call(front, recorded("gemini-cli/AfterAgent")).answer["reason"]

    def heard(prompt: str) -> bool:
        return "heard" in call(front, {**recorded("gemini-cli/BeforeAgent"), "prompt": prompt}).stdout

    session = recorded("gemini-cli/BeforeAgent")["session_id"]
    assert recorded("gemini-cli/AfterAgent")["session_id"] == session
    assert not heard(said)
    assert heard(f"{said}\nyes")
    assert heard("was it published?")


@pytest.mark.parametrize("client", STOP)
def test_a_stop_gate_does_not_loop_for_ever(fronts: Any, client: str) -> None:
    front = fronts(client)
    front.module("stop", "return keep_going('go on')", events={"Stop": "*"})
    front.install()
    payload = recorded(f"{FOLDER[client]}/{STOP[client]}")
    again = {**payload, "stop_hook_active": True}
    said = [call(front, payload if number == 0 else again).answer for number in range(6)]
    assert ["decision" in one for one in said] == [True] * 5 + [False]
    assert "letting it end" in said[5]["systemMessage"]


def test_a_turn_of_codex_is_counted_even_where_it_does_not_say_that_it_was_kept_going(fronts: Any) -> None:
    front = fronts("codex")
    front.module("stop", "return keep_going('go on')", events={"Stop": "*"})
    front.install()
    payload = recorded("codex/Stop")
    said = [call(front, payload).answer for _ in range(6)]
    assert ["decision" in one for one in said] == [True] * 5 + [False]
    assert "decision" in call(front, {**payload, "turn_id": "another"}).answer


def test_the_event_log_has_no_compaction_of_gemini_which_says_so_at_every_request(fronts: Any) -> None:
    front = fronts("gemini")
    front.ship("events")
    front.install()
    call(front, recorded("gemini-cli/PreCompress.auto"))
    call(front, recorded("gemini-cli/AfterAgent"))
    assert [json.loads(line)["type"] for line in (front.state / "events.jsonl").open()] == ["turn.done"]


# ---- patches ----

PATCH = "*** Begin Patch\n*** Add File: new.txt\n+x\n*** Update File: src/.env\n@@\n-a\n+b\n*** End Patch\n"
FILES = "return deny(call.tool + ' ' + call.input['file_path']) if '.env' in call.input['file_path'] else None"


def patched(client: str, patch: str, *, tool: str = "apply_patch") -> dict[str, Any]:
    if client == "opencode":
        return opencode(tool, {"patchText": patch})
    payload = recorded("codex/PreToolUse.apply_patch")
    payload["tool_input"] = {"command": patch}
    return payload


@pytest.mark.parametrize("client", ["codex", "opencode"])
@pytest.mark.parametrize("matcher", ["Write", "Edit", "MultiEdit", "Write|Edit", "^Edit$", ""])
def test_every_file_gate_sees_each_file_of_a_patch(fronts: Any, client: str, matcher: str) -> None:
    front = fronts(client)
    front.module("gate", FILES, events={"PreToolUse": matcher})
    front.install()
    reason = refused(client, call(front, patched(client, PATCH)))
    best = matcher if matcher.isalpha() else "Edit"
    assert reason == f"[gate] {best} src/.env"
    assert call(front, patched(client, PATCH.replace(".env", "env"))).stdout == ""


@pytest.mark.parametrize("client", ["codex", "opencode"])
def test_a_module_says_something_of_each_file_and_fires_once(fronts: Any, client: str) -> None:
    front = fronts(client)
    body = "return advise('look at ' + call.input['file_path']) if call.tool == 'Edit' else tell('new file')"
    front.module("adviser", body, cls="adviser", events={"PreToolUse": "Edit|Write"})
    front.install()
    reply = call(front, patched(client, PATCH))
    assert reply.context == "[adviser] look at src/.env"
    assert reply.answer["systemMessage"] == "[adviser] new file"
    assert [fire["action"] for fire in front.fires()] == ["advise"]


@pytest.mark.parametrize("client", ["codex", "opencode"])
@pytest.mark.parametrize("patch", ["", "nothing", "*** Begin Patch\n*** Rename File: a\n*** End Patch\n"])
def test_a_patch_that_cannot_be_read_is_denied_by_file_gates_alone(fronts: Any, client: str, patch: str) -> None:
    front = fronts(client)
    front.module("files", "return None", events={"PreToolUse": "Write"}, toml='literals = ["never-there"]')
    front.module("shell", "return None", events={"PreToolUse": "Bash"})
    front.install()
    reason = refused(client, call(front, patched(client, patch)))
    assert "[files] this gate could not decide (the patch cannot be read" in reason and "shell" not in reason


@pytest.mark.parametrize("client", ["codex", "opencode"])
def test_an_allow_for_one_file_is_none_for_the_others(fronts: Any, client: str) -> None:
    front = fronts(client)
    front.module(
        "gate", "return allow('fine') if call.tool == 'Write' else None", events={"PreToolUse": "Write|Edit"}
    )
    front.install()
    assert call(front, patched(client, PATCH)).stdout == ""
    assert front.errors("overdeck") == []


def test_an_adviser_cannot_allow_between_two_files(fronts: Any) -> None:
    front = fronts("codex")
    body = "return advise('a') if call.tool == 'Edit' else allow('b')"
    front.module("adviser", body, cls="adviser", events={"PreToolUse": "Write|Edit"})
    front.install()
    assert call(front, patched("codex", PATCH)).stdout == ""
    assert "cannot answer 'allow'" in front.errors("adviser")[0]["cause"]


def test_a_rewrite_of_one_file_in_a_patch_is_recorded_because_it_cannot_be_carried(fronts: Any) -> None:
    front = fronts("codex")
    body = "return rewrite({**call.input, 'file_path': 'x'})"
    front.module("rewriter", body, cls="rewriter", events={"PreToolUse": "Write|Edit"})
    front.install()
    assert call(front, patched("codex", PATCH)).stdout == ""
    assert "a rewrite of one of them cannot be carried" in front.errors("rewriter")[0]["cause"]


HEREDOC = "cd src && apply_patch <<'EOF'\n" + PATCH + "EOF\n"


@pytest.mark.parametrize("literals", ["", 'literals = [".env"]'])
def test_a_patch_inside_a_shell_command_of_codex_is_seen_by_file_gates_too(fronts: Any, literals: str) -> None:
    front = fronts("codex")
    front.module("files", FILES, events={"PreToolUse": "Edit"}, toml=literals)
    front.module("shell", "return deny(call.tool) if call.tool != 'Bash' else None")
    front.install()
    payload = recorded("codex/PreToolUse.Bash")
    payload["tool_input"]["command"] = HEREDOC
    reason = refused("codex", call(front, payload))
    assert reason == "[files] Edit src/.env"
    payload["tool_input"]["command"] = HEREDOC.replace("Update File", "Rename File")
    assert "[files] this gate could not decide" in refused("codex", call(front, payload))
    payload["tool_input"]["command"] = "echo apply_patch"
    assert call(front, payload).stdout == ""


def test_a_rewriter_for_bash_may_change_a_command_that_holds_a_patch(fronts: Any) -> None:
    front = fronts("codex")
    front.module(
        "rewriter", "return rewrite({**call.input, 'command': 'true; ' + call.input['command']})", cls="rewriter"
    )
    front.module("shell", "return deny('seen') if call.input['command'].startswith('true; ') else None")
    front.module("files", "return None", events={"PreToolUse": "Edit"})
    front.install()
    payload = recorded("codex/PreToolUse.Bash")
    payload["tool_input"]["command"] = HEREDOC
    assert "seen" in refused("codex", call(front, payload))


def test_after_a_patch_every_file_is_seen_as_well(fronts: Any) -> None:
    front = fronts("codex")
    body = "return advise(call.tool + ' ' + call.input['file_path'])"
    front.module("adviser", body, cls="adviser", events={"PostToolUse": "Write|Edit"})
    front.install()
    reply = call(front, recorded("codex/PostToolUse.apply_patch"))
    assert reply.context == "[adviser] Write n.txt\n[adviser] Edit a.txt"


@pytest.mark.parametrize("client", FOLDER)
def test_a_bundle_holds_its_own_clients_code_and_no_others(fronts: Any, client: str) -> None:
    front = fronts(client)
    names = "[n for n, m in sys.modules.items() if 'dialects.' in n and not getattr(m, '__spec__', None)]"
    front.module("gate", f"import sys\nreturn deny(' '.join({names}))")
    front.install()
    said = refused(client, call(front, bash(client, "x")))
    if front.native is not None:  # only it starts the bundle
        assert f"dialects.{client}" in said
    assert not any(f"dialects.{other}" in said for other in FOLDER if other != client)
    plan = parse((front.plans / "PreToolUse.plan").read_bytes())
    code = Path(plan.bundle).read_bytes()
    assert f"dialects.{client}".encode() in code
    assert not any(f"dialects.{other}".encode() in code for other in FOLDER if other != client)


def test_claudes_bundle_holds_no_other_clients_code(front: Front) -> None:
    front.module("gate", "return None")
    front.install()
    code = Path(parse((front.plans / "PreToolUse.plan").read_bytes()).bundle).read_bytes()
    assert not any(f"dialects.{client}".encode() in code for client in FOLDER)


@pytest.mark.parametrize("client", FOLDER)
def test_an_unknown_event_name_in_a_payload_is_still_reported(fronts: Any, client: str) -> None:
    front = fronts(client)
    front.module("gate", "return None")
    front.install()
    front.call({**bash(client, "x"), "hook_event_name": "SomethingElse"}, "PreToolUse")
    assert "SomethingElse" in json.dumps(front.calls()[0])
