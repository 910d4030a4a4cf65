"""Answers that a client carries in its own way: what Codex and Gemini CLI make of them (docs/plans/clients.md)."""

import pytest
from clientrig import MakeRig, Rig

from overdeck.probe.mock.script import Call, Reply

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower

MOST = 6
"""Turns of a subagent that is always kept going: the first, and five by our cap."""


def after_a_tool(rig: Rig) -> None:
    """A gate that takes an output away, and one that wants the turn to end."""
    rig.module(
        "judge",
        "command = call.input['command']\n"
        "return deny('not for you') if 'replaced' in command else stop('enough') if 'halted' in command else None",
        events={"PostToolUse": "Bash"},
    )


def test_in_codex_a_denied_output_is_replaced_and_a_stop_after_a_tool_ends_no_turn(rig: MakeRig) -> None:
    codex = rig("codex")
    after_a_tool(codex)
    codex.module("hello", "return advise('from the start')", cls="adviser", events={"SubagentStart": "*"})
    codex.module("never", "return keep_going('once more')", events={"SubagentStop": "*"})
    codex.install()
    shell = codex.client.shell
    spawned = Call("spawn_agent", {"message": "MARKED-TASK go"}, "multi_agent_v1")
    calls = [shell("echo replaced"), shell("echo halted"), shell("touch next"), spawned, Reply("W.", delay_s=4)]
    seen = codex.play(*calls, marked={"MARKED-TASK": []})
    assert seen.results[:2] == ["[judge] not for you", "[judge] enough"]
    assert codex.file("next").exists()
    assert seen.heard("from the start")
    assert 1 < seen.conversations.count("MARKED-TASK") <= MOST


def test_in_gemini_a_denied_output_is_replaced_and_a_stop_after_a_tool_ends_the_run(rig: MakeRig) -> None:
    gemini = rig("gemini")
    after_a_tool(gemini)
    gemini.install()
    shell = gemini.client.shell
    seen = gemini.play(shell("echo replaced"), shell("echo halted"), shell("touch next"), deadline_s=100)
    assert seen.results == ["[judge] not for you", "(nothing)"]
    assert "[judge] enough" in seen.stdout
    assert not gemini.file("next").exists()


def test_in_gemini_a_stop_at_a_prompt_asks_no_model_and_says_why(rig: MakeRig) -> None:
    gemini = rig("gemini")
    gemini.module("judge", "return stop('not today')", events={"UserPromptSubmit": "*"})
    gemini.install()
    seen = gemini.play(gemini.client.shell("touch ran"), deadline_s=100)
    assert (seen.ended, seen.turns) == ("", [])
    assert "[judge] not today" in seen.stdout
