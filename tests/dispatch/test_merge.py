"""Many verdicts to one."""

from pathlib import Path
from typing import Any

import pytest
from fronts import Front, bash, recorded

from overdeck.dispatch.judging import Outcome
from overdeck.dispatch.merge import MAX_CONTEXT, MAX_REASON, merge


def said(id: str, kind: str, text: str = "t", cls: str = "gate") -> Outcome:
    outcome = Outcome(id, cls)
    outcome.take({"kind": kind, "text": text, "data": None})
    return outcome


def failed(id: str, cls: str) -> Outcome:
    outcome = Outcome(id, cls)
    outcome.fail("boom")
    return outcome


@pytest.mark.parametrize(
    ("kinds", "decision"),
    [
        (["allow", "ask", "defer", "deny"], "deny"),
        (["allow", "ask", "defer"], "defer"),
        (["allow", "ask"], "ask"),
        (["allow"], "allow"),
        (["advise"], ""),
        (["stop", "allow"], "deny"),
    ],
)
def test_the_strictest_decision_wins(tmp_path: Path, kinds: list[str], decision: str) -> None:
    merged = merge("PreToolUse", [said(f"m{i}", kind) for i, kind in enumerate(kinds)], None, str(tmp_path))
    assert merged.decision == decision


def test_reasons_of_the_winning_decision_stand_in_order_with_their_module(tmp_path: Path) -> None:
    outcomes = [said("a", "deny", "one"), said("b", "ask", "no"), said("c", "deny", "two")]
    assert merge("PreToolUse", outcomes, None, str(tmp_path)).reason == "[a] one\n[c] two"


@pytest.mark.parametrize("decision", ["deny", "defer"])
def test_a_refused_call_is_not_rewritten(tmp_path: Path, decision: str) -> None:
    assert merge("PreToolUse", [said("a", decision)], {"x": 1}, str(tmp_path)).input is None
    assert merge("PreToolUse", [said("a", "ask")], {"x": 1}, str(tmp_path)).input == {"x": 1}


@pytest.mark.parametrize("cls", ["adviser", "observer", "rewriter"])
def test_only_a_failed_gate_speaks(tmp_path: Path, cls: str) -> None:
    assert not merge("PreToolUse", [failed("a", cls)], None, str(tmp_path))
    assert merge("PreToolUse", [failed("a", "gate")], None, str(tmp_path)).decision == "deny"


@pytest.mark.parametrize(("kind", "limit"), [("advise", MAX_CONTEXT), ("deny", MAX_REASON)])
def test_a_text_over_budget_is_cut_and_the_whole_kept_in_a_file(tmp_path: Path, kind: str, limit: int) -> None:
    text = "é" * 20_000
    merged = merge("PreToolUse", [said("a", kind, text)], None, str(tmp_path / "overflow"))
    shown = merged.context or merged.reason
    assert len(shown) <= limit
    path = shown.rpartition("the whole text is in ")[2].rstrip("]")
    assert Path(path).read_text() == f"[a] {text}"
    assert Path(path).stat().st_mode & 0o777 == 0o600


def test_a_text_that_cannot_be_kept_says_so() -> None:
    merged = merge("PreToolUse", [said("a", "deny", "x" * 20_000)], None, "/proc/nowhere")
    assert merged.reason.endswith("the rest could not be kept]")


def test_gates_judge_the_rewritten_input(front: Front) -> None:
    front.module("a-writer", "return rewrite({**call.input, 'command': 'git push'})", cls="rewriter")
    front.module(
        "b-writer", "return rewrite({**call.input, 'command': call.input['command'] + ' -f'})", cls="rewriter"
    )
    front.module("gate", "return deny('saw ' + call.input['command'])", toml='literals = ["git"]')
    front.install()
    reply = front.call(bash("ls"))
    assert reply.reason == "[gate] saw git push -f"
    assert "updatedInput" not in reply.specific


def test_a_rewrite_keeps_the_whole_input(front: Front) -> None:
    front.module("writer", "return rewrite({**call.input, 'command': 'ls -l'})", cls="rewriter")
    front.install()
    assert front.call(bash("ls")).specific["updatedInput"] == {"command": "ls -l", "description": "d"}
    assert front.fires()[-1]["action"] == "act"


def test_a_rewrite_that_changes_nothing_is_silence(front: Front) -> None:
    front.module("writer", "return rewrite(dict(call.input))", cls="rewriter")
    front.install()
    assert front.call(bash("ls")).stdout == ""


def test_a_rewriter_that_undoes_another_is_reported(front: Front) -> None:
    front.module("a", "return rewrite({**call.input, 'command': 'x'})", cls="rewriter")
    front.module("b", "return rewrite({**call.input, 'command': 'ls', 'more': 1})", cls="rewriter")
    front.install()
    front.call(bash("ls"))
    assert "takes back what a changed" in front.errors("b")[0]["cause"]


def test_a_stop_block_is_capped_for_a_session_and_then_told(front: Front) -> None:
    front.module("gate", "return keep_going('tests are red')", events={"Stop": "*"})
    front.install()
    payload: dict[str, Any] = recorded("claude-code/Stop")
    assert front.call(payload).answer["decision"] == "block"
    payload["stop_hook_active"] = True
    answers = [front.call(payload).answer for _ in range(5)]
    assert [answer.get("decision") for answer in answers] == ["block"] * 4 + [None]
    assert "letting it end" in answers[-1]["systemMessage"]
    payload["stop_hook_active"] = False
    assert front.call(payload).answer["decision"] == "block"


def test_main_only_modules_are_silent_in_a_subagent(front: Front) -> None:
    front.module("gate", "return deny('x')", toml="main_only = true")
    front.install()
    assert front.call(recorded("claude-code/PreToolUse.Bash.insubagent")).stdout == ""
    assert front.call(bash("ls")).decision == "deny"


def test_a_session_start_matcher_is_held_against_the_source(front: Front) -> None:
    front.module("hello", "return advise('hi')", cls="adviser", events={"SessionStart": "startup"})
    front.install()
    payload = recorded("claude-code/SessionStart.startup")
    assert front.call(payload).context
    assert front.call({**payload, "source": "clear"}).stdout == ""
