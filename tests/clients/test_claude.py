"""Claude Code, the pinned version, with our entries in its settings: what the model is told, and what really ran."""

from itertools import pairwise

import pytest
from clientrig import Rig, together

from overdeck.probe.mock.script import Call, Reply

pytestmark = pytest.mark.timeout(300)  # a loaded machine is five times slower

LONG_S = 6.0
"""How far a loaded machine may be off."""


def test_a_denied_call_does_not_run_and_the_model_reads_the_reason(claude: Rig) -> None:
    claude.module("no-mark", "return deny('not here') if 'denied' in call.input['command'] else None")
    claude.install()
    seen = claude.play(claude.client.shell("touch denied"), claude.client.shell("touch allowed"))
    assert "not here" in seen.results[0]
    assert seen.failed == [True, False]
    assert not claude.file("denied").exists()
    assert claude.file("allowed").exists()


def test_nothing_but_loopback_is_asked_for(claude: Rig) -> None:
    seen = claude.play(claude.client.shell("true"))
    assert (seen.code, seen.ended, seen.elsewhere) == (0, "", [])


def test_an_ask_is_a_refusal_with_its_reason_where_nobody_can_answer(claude: Rig) -> None:
    claude.module("owner", "return ask('the owner decides')")
    claude.install()
    seen = claude.play(claude.client.shell("touch asked"))
    assert "the owner decides" in seen.results[0]
    assert not claude.file("asked").exists()


def test_advice_reaches_the_model_and_the_call_runs(claude: Rig) -> None:
    claude.module("hint", "return advise('mind the gap')", cls="adviser")
    claude.install()
    seen = claude.play(claude.client.shell("touch advised"))
    assert seen.heard("mind the gap")
    assert claude.file("advised").exists()


def test_a_rewritten_call_runs_as_it_was_rewritten(claude: Rig) -> None:
    claude.module("other", "return rewrite({**call.input, 'command': 'touch rewritten'})", cls="rewriter")
    claude.install()
    claude.play(claude.client.shell("touch original"))
    assert claude.file("rewritten").exists()
    assert not claude.file("original").exists()


def test_a_gate_judges_what_a_rewriter_made_of_the_call(claude: Rig) -> None:
    claude.module("other", "return rewrite({**call.input, 'command': 'touch worse'})", cls="rewriter")
    claude.module("no-worse", "return deny('worse') if 'worse' in call.input['command'] else None")
    claude.install()
    seen = claude.play(claude.client.shell("touch fine"))
    assert seen.failed == [True]
    assert not claude.file("worse").exists()


def test_a_turn_that_is_kept_going_goes_on_with_the_reason(claude: Rig) -> None:
    body = "return None if call.payload['stop_hook_active'] else keep_going('the tests are red')"
    claude.module("red", body, events={"Stop": ""})
    claude.install()
    seen = claude.play(Reply("Done."), Reply("Now it is."))
    assert len(seen.turns) == 2
    assert seen.heard("the tests are red")


def test_a_stop_gate_that_never_lets_go_ends_by_our_cap(claude: Rig) -> None:
    claude.module("never", "return keep_going('not yet')", events={"Stop": ""})
    claude.install()
    seen = claude.play()
    assert (seen.code, len(seen.turns)) == (0, 6)


def test_context_of_a_new_session_and_of_a_prompt_reach_the_model(claude: Rig) -> None:
    claude.module(
        "both", "return advise(call.event + ' says hello')", cls="adviser",
        events={"SessionStart": "*", "UserPromptSubmit": "*"},
    )  # fmt: skip
    claude.install()
    seen = claude.play()
    assert seen.heard("SessionStart says hello")
    assert seen.heard("UserPromptSubmit says hello")


def test_a_denied_prompt_never_reaches_the_model(claude: Rig) -> None:
    claude.module("no-prompt", "return deny('not this')", events={"UserPromptSubmit": "*"})
    claude.install()
    assert claude.play().turns == []


def test_what_the_user_is_told_never_reaches_the_model(claude: Rig) -> None:
    claude.module("line", "return tell('for your eyes')", cls="adviser")
    claude.install()
    seen = claude.play(claude.client.shell("touch told"))
    assert claude.file("told").exists()
    assert not seen.heard("for your eyes")


def test_a_gate_that_crashes_denies(claude: Rig) -> None:
    claude.module("broken", "raise RuntimeError('boom')")
    claude.install()
    seen = claude.play(claude.client.shell("touch crashed"))
    assert "broken" in seen.results[0]
    assert "could not decide" in seen.results[0]
    assert not claude.file("crashed").exists()


def test_an_adviser_that_hangs_costs_its_deadline_and_no_more(claude: Rig) -> None:
    claude.module("stuck", "while True: pass", cls="adviser", toml="timeout_ms = 1000")
    claude.install()
    seen = claude.play(claude.client.shell("touch slow"), claude.client.read(claude.file("a.txt")))
    slow, quick = (later - earlier for earlier, later in pairwise(seen.at))
    assert 1.0 <= slow < 1.0 + LONG_S, (slow, quick)
    assert claude.file("slow").exists()


def test_a_megabyte_of_tool_output_is_judged_and_arrives(claude: Rig) -> None:
    claude.module(
        "size", "return advise(f'saw {len(call.payload[\"tool_response\"][\"content\"])}')", cls="adviser",
        events={"PostToolUse": "Write"},
    )  # fmt: skip
    claude.install()
    seen = claude.play(claude.client.write(claude.file("big.txt"), "x" * 1_000_000))
    assert seen.heard("saw 1000000")
    assert claude.file("big.txt").stat().st_size == 1_000_000


def test_each_of_several_calls_at_once_gets_its_own_verdict(claude: Rig) -> None:
    claude.module("odd", "return deny('odd') if call.input['command'][-1] in '13' else None")
    claude.install()
    seen = claude.play(together(*(claude.client.shell(f"touch file{n}") for n in range(4))))
    assert [claude.file(f"file{n}").exists() for n in range(4)] == [True, False, True, False]
    assert [result.endswith("odd") for result in seen.results] == [False, True, False, True]


def test_a_subagents_call_is_asked_of_every_module_but_those_of_the_main_thread(claude: Rig) -> None:
    claude.module("main", "return deny('main only')", toml="main_only = true\nliterals = ['first']")
    claude.module("all", "return deny('everywhere')", toml="literals = ['second']")
    claude.install()
    agent = Call("Agent", {"description": "d", "prompt": "MARKED-TASK go", "subagent_type": "general-purpose"})
    inside = [claude.client.shell("touch first"), claude.client.shell("touch second"), Reply("Done inside.")]
    seen = claude.play(agent, marked={"MARKED-TASK": inside})
    assert "MARKED-TASK" in seen.conversations
    assert claude.file("first").exists()
    assert not claude.file("second").exists()
    assert seen.heard("everywhere")


def test_the_guards_that_ship_hold_in_the_client(claude: Rig) -> None:
    claude.only("guards")
    claude.install()
    seen = claude.play(
        claude.client.shell("git push --force origin main"), claude.client.read(claude.file(".env"))
    )
    assert "git-decision" in seen.results[0]
    assert "secret-file" in seen.results[1]
    assert not seen.heard("this-line-must-not-reach-a-model")
    assert not list((claude.room.remote / "refs" / "heads").iterdir())
