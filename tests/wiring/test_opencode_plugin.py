"""The plugin that ``overdeck install --client opencode`` writes, run by node as OpenCode does, with real fronts."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, recorded

from overdeck.dispatch import planning
from overdeck.wiring.opencodeplugin import fronts_in, is_ours, plugin_text

HOST = Path(__file__).parent.parent / "support" / "opencodehost.mjs"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node: the plugin cannot be run")


@pytest.fixture
def front(tmp_path: Path) -> Front:
    return Front(tmp_path, client="opencode")


def text_of(front: Front) -> str:
    front.install()
    return plugin_text(front.recipe, planning.load(front.recipe))


def play(front: Front, *steps: dict[str, Any], text: str = "") -> list[dict[str, Any]]:
    """Run the plugin on these calls of its hooks; what became of each."""
    plugin, script = front.root / "plugin.mjs", front.root / "steps.json"
    plugin.write_text(text or text_of(front))
    script.write_text(json.dumps(steps))
    environ = {"PATH": os.defpath, "HOME": str(front.root)}
    done = subprocess.run([NODE, HOST, plugin, script], capture_output=True, env=environ, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def step(file: str, **output: Any) -> dict[str, Any]:
    """A recorded call of a hook of the plugin."""
    call = recorded(f"opencode/{file}")
    call["output"] |= output
    return call


BEFORE = "tool.execute.before.bash"


@needs_node
def test_a_deny_is_thrown_and_the_reason_is_all_of_it(front: Front) -> None:
    front.module("gate", "return deny(call.tool + ' ' + call.input['command'])")
    said = play(front, step(BEFORE, args={"command": "x"}), step("tool.execute.before.read"))
    assert [one["thrown"] for one in said] == ["[gate] Bash x", None]
    assert len(front.calls()) == 1  # read is no tool that any module looks at: nothing was started


@needs_node
def test_a_rewrite_changes_the_arguments_in_place_and_leaves_no_old_key(front: Front) -> None:
    front.module("rewriter", "return rewrite({'command': 'better'})", cls="rewriter")
    said = play(front, step(BEFORE, args={"command": "x", "description": "d"}))[0]
    assert (said["output"]["args"], said["same"]) == ({"command": "better"}, True)


@needs_node
def test_advice_before_a_tool_stands_beside_its_output(front: Front) -> None:
    front.module("adviser", "return advise('mind the gap')", cls="adviser")
    said = play(front, step(BEFORE), step("tool.execute.after.bash"))
    assert said[1]["output"]["output"] == "hi\n\n\n[adviser] mind the gap"


@needs_node
def test_advice_for_a_tool_that_failed_is_told_instead(front: Front) -> None:
    front.module("adviser", "return advise('mind the gap')", cls="adviser")
    said = play(front, step(BEFORE), {"hook": "event", "input": {"event": idle()}, "output": None})
    assert "mind the gap" in said[1]["told"][0]


def idle() -> dict[str, Any]:
    return {
        "type": "session.idle",
        "properties": {"sessionID": recorded(f"opencode/{BEFORE}")["input"]["sessionID"]},
    }


@needs_node
def test_after_a_tool_an_objection_stands_below_the_output_that_stays(front: Front) -> None:
    front.module("gate", "return deny(call.payload['tool_response']['stdout'])", events={"PostToolUse": "Bash"})
    output = play(front, step("tool.execute.after.bash"))[0]["output"]["output"]
    assert output == "hi\n\n\n[overdeck] a hook objects to this result:\n[gate] hi\n"


@needs_node
def test_the_output_of_a_servers_tool_is_a_list_and_gets_one_more(front: Front) -> None:
    front.module("adviser", "return advise(call.tool)", cls="adviser", events={"PostToolUse": "mcp__demo__echo"})
    config = {"hook": "config", "input": {"mcp": {"dem": {}, "demo": {}}}, "output": None}
    said = play(front, config, step("tool.execute.after.demo_echo"))[1]
    assert said["output"]["content"][1] == {"type": "text", "text": "[adviser] mcp__demo__echo"}


@needs_node
def test_a_prompt_gets_context_and_the_session_starts_with_its_first_message(front: Front) -> None:
    body = "return advise(call.event + ':' + call.payload.get('source', '') + call.payload.get('prompt', ''))"
    front.module(
        "adviser", body, cls="adviser", events={"SessionStart": "startup|resume", "UserPromptSubmit": "*"}
    )
    started = recorded("opencode/event.session.created")["input"]
    message = recorded("opencode/chat.message")
    said = play(front, {"hook": "event", "input": {"event": started}, "output": None}, message, message)
    parts = said[1]["output"]["parts"]
    assert parts[1]["text"] == '[adviser] SessionStart:startup\n[adviser] UserPromptSubmit:"please run it"'
    assert (parts[1]["messageID"], parts[1]["sessionID"]) == (parts[0]["messageID"], parts[0]["sessionID"])
    assert parts[1]["id"].startswith("prt_") and parts[1]["id"] != parts[0]["id"]
    assert said[2]["output"]["parts"][1]["text"] == '[adviser] UserPromptSubmit:"please run it"'


@needs_node
def test_a_session_that_was_there_before_is_resumed(front: Front) -> None:
    body = "return advise(call.payload['source'])"
    front.module("adviser", body, cls="adviser", events={"SessionStart": "*"})
    assert play(front, recorded("opencode/chat.message"))[0]["output"]["parts"][1]["text"] == "[adviser] resume"


@needs_node
def test_a_prompt_that_is_refused_is_thrown(front: Front) -> None:
    front.module("gate", "return deny('not now')", events={"UserPromptSubmit": "*"})
    assert play(front, recorded("opencode/chat.message"))[0]["thrown"] == "[gate] not now"


@needs_node
def test_a_child_session_is_a_subagent_of_its_parent(front: Front) -> None:
    front.module("main", "return deny('main only')", toml="main_only = true")
    front.module("all", "return tell(call.session + str(call.subagent))")
    call = step(BEFORE)
    call["input"]["sessionID"] = "child1"
    said = play(front, step(BEFORE), call)
    assert said[0]["thrown"] == "[main] main only"
    assert (said[1]["thrown"], said[1]["told"]) == (None, ["[all] mainTrue"])


@needs_node
def test_a_tell_is_told(front: Front) -> None:
    front.module("adviser", "return tell('look')", cls="adviser")
    assert play(front, step(BEFORE))[0]["told"] == ["[adviser] look"]


def instead(front: Front, *argv: str, timeout_ms: int = 20_000) -> str:
    """The plugin with another program in the place of its front."""
    text = text_of(front)
    fronts = fronts_in(text)
    fronts["PreToolUse"] |= {"argv": list(argv), "timeout_ms": timeout_ms}
    return text.replace(json.dumps(fronts_in(text)), json.dumps(fronts))


@needs_node
def test_a_front_that_is_not_there_lets_the_tool_run_and_is_told(front: Front) -> None:
    front.module("gate", "return deny('x')")
    said = play(front, step(BEFORE), text=instead(front, "/nowhere/overdeck-hook"))[0]
    assert said["thrown"] is None and "no gate ran" in said["told"][0]


@needs_node
@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("/bin/sh", "-c", "exit 3"), "it ended with 3"),
        (("/bin/sh", "-c", "kill -9 $$"), "killed by SIGKILL"),
        (("/bin/echo", "nonsense"), "not JSON"),
        (("/bin/echo", "3"), "no object"),
        (("/bin/echo", "[]"), "no object"),
        (("/bin/sleep", "30"), "silent for 0.5 s"),
    ],
)
def test_a_front_that_started_and_gave_no_whole_answer_denies_where_gates_are(
    front: Front, argv: tuple[str, ...], why: str
) -> None:
    front.module("gate", "return None")
    text = instead(front, *argv, timeout_ms=500 if "sleep" in argv[0] else 20_000)
    said = play(front, step(BEFORE), text=text)[0]
    assert why in said["thrown"]


@needs_node
def test_where_there_are_only_advisers_it_is_told_and_the_tool_runs(front: Front) -> None:
    front.module("adviser", "return None", cls="adviser")
    said = play(front, step(BEFORE), text=instead(front, "/bin/sh", "-c", "exit 3"))[0]
    assert said["thrown"] is None and "it ended with 3" in said["told"][0]


@needs_node
def test_a_call_that_cannot_be_said_in_json_is_denied_before_and_told_after_the_tool(front: Front) -> None:
    front.module("gate", "return None", events={"PreToolUse": "Bash", "PostToolUse": "Bash"})
    before, after = step(BEFORE), step("tool.execute.after.bash")
    before["output"]["args"] = after["input"]["args"] = {"command": "x", "odd": "10n"}
    said = play(front, before, after)
    assert "cannot be said in JSON" in said[0]["thrown"]
    assert said[1]["thrown"] is None and "cannot be said in JSON" in said[1]["told"][0]


@needs_node
def test_calls_in_parallel_and_a_megabyte_of_output_pass(front: Front) -> None:
    front.module("gate", "return deny('long') if len(call.input['command']) > 1000000 else None")
    said = play(front, step(BEFORE, args={"command": "x" * 1_500_000}), step(BEFORE))
    assert [one["thrown"] for one in said] == ["[gate] long", None]


@needs_node
def test_a_keep_going_at_the_end_of_a_turn_is_told_because_it_cannot_be_carried(front: Front) -> None:
    front.module("gate", "return keep_going('tests are red')", events={"Stop": "*"})
    said = play(front, {"hook": "event", "input": {"event": idle()}, "output": None})[0]
    assert said["told"] == ["OpenCode cannot keep a turn going: [gate] tests are red"]


@needs_node
def test_the_end_of_a_turn_hands_on_what_the_model_said_last_in_it(front: Front) -> None:
    front.module(
        "ear", "return tell(call.payload['last_assistant_message'] + '.')", cls="adviser", events={"Stop": "*"}
    )
    session = idle()["properties"]["sessionID"]

    def says(message: str, text: str, session: str = session) -> dict[str, Any]:
        given = {"sessionID": session, "messageID": message, "partID": "p"}
        return {"hook": "experimental.text.complete", "input": given, "output": {"text": text}}

    end = {"hook": "event", "input": {"event": idle()}, "output": None}
    of_a_subagent = says("m4", "inside", "child")
    said = play(front, says("m1", "I look."), says("m2", "It is"), says("m2", "done"), of_a_subagent, end, end)
    assert [one["told"] for one in said[-2:]] == [["[ear] It is\n\ndone."], ["[ear] ."]]


def test_the_plugin_says_that_it_is_ours_and_what_it_starts(front: Front) -> None:
    front.module("gate", "return None", events={"PreToolUse": "Bash|Write"})
    front.module("adviser", "return None", cls="adviser", events={"PostToolUse": "^mcp__"})
    text = text_of(front)
    assert is_ours(text) and not is_ours("// hello\n--by-overdeck")
    fronts = fronts_in(text)
    assert fronts["PreToolUse"]["tools"] == ["apply_patch", "bash", "patch", "write"]
    assert (fronts["PreToolUse"]["gates"], fronts["PostToolUse"]["gates"]) == (True, False)
    assert fronts["PostToolUse"]["tools"] is None
    assert fronts["PreToolUse"]["argv"][-1] == "--by-overdeck"
