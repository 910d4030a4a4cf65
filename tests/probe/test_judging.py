"""What is said of hooks and gates, from what was seen: no client is run here."""

import json
from typing import Any

import pytest

from overdeck.probe.canaries import Canary
from overdeck.probe.facts import Fire, Played, Told
from overdeck.probe.hooks import Choice
from overdeck.probe.hooks import Played as Hook
from overdeck.probe.judging import Report, judge
from overdeck.probe.mock.script import Call

COMMAND = {"command": "ls"}


def fired(answer: dict[str, Any] | str = "", *, event: str = "PreToolUse", **more: Any) -> Fire:
    payload = {"hook_event_name": event, "tool_name": "Bash", "tool_use_id": "1", "tool_input": COMMAND}
    seen = {"wall_s": 0.1, "code": 0, "stderr": "", "not_started": ""} | more
    stdout = answer if isinstance(answer, str) else json.dumps(answer)
    return Fire(0, 0.0, payload, seen["wall_s"], seen["code"], stdout, seen["stderr"], seen["not_started"])


def session(*fires: Fire, name: str = "harmless calls", text: str = "done", turns: int = 2) -> Played:
    told = (Told("1", "Bash", COMMAND, text),)
    return Played(name, 0, "", "no model", 1.0, 0.5, turns, told, ("please", text), (), fires)


def judged(
    *sessions: Played, event: str = "PreToolUse", matcher: str = "Bash", canary: Canary | None = None
) -> Report:
    hook = Hook(event, matcher, "the hook", ("hook",), {}, ours=True)
    known = {"version": "1", "program": "claude", "isolation": "none"}
    return judge("claude", Choice((hook,)), [canary] if canary else [], sessions, **known)


def denied(reason: str, decision: str = "deny") -> dict[str, Any]:
    specific = {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason}
    return {"hookSpecificOutput": specific}


@pytest.mark.parametrize(("turns", "blamed"), [(2, True), (0, False)])
def test_a_hook_is_not_blamed_for_a_client_that_never_asked_the_model(turns: int, blamed: bool) -> None:
    report = judged(session(turns=turns), event="UserPromptSubmit", matcher="*")
    assert any("it never started" in trouble for trouble in report.trouble) is blamed
    assert report.trouble


def test_a_denial_that_the_model_reads_is_honoured() -> None:
    report = judged(session(fired(denied("not here")), text="not here"))
    (fire,) = report.hooks[0].fires
    assert (fire.honoured, fire.reached_model, fire.reason, report.trouble) == (True, True, "not here", ())


def test_a_denial_of_a_call_that_ran_is_trouble() -> None:
    report = judged(session(fired(denied("not here")), text="it ran"))
    assert report.hooks[0].fires[0].honoured is False
    assert "did not honour its deny" in report.trouble[0]


def test_a_canary_that_was_changed_to_run_nothing_proves_nothing_where_it_passes() -> None:
    passed = session(fired(), name="canaries, plain")
    call = Call("Bash", COMMAND)
    report = judged(passed, canary=Canary("mine", call, why="behind false"))
    assert (report.gates[0].denied, report.gates[0].said, report.trouble) == (None, "behind false", ())
    assert judged(passed, canary=Canary("mine", call)).gates[0].denied is False


def test_canaries_that_the_client_never_came_to_are_one_trouble() -> None:
    hung = Played("canaries, plain", -1, "claude does not end", "", 1.0, 0.5, 0, (), (), (), ())
    report = judged(hung, canary=Canary("mine", Call("Bash", COMMAND)))
    assert report.gates[0].denied is False
    assert "the client never came to the canaries of mine" in report.trouble


def test_a_context_that_the_model_never_read_is_trouble() -> None:
    context = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "mind the gap"}}
    assert "did not reach the model" in judged(session(fired(context))).trouble[0]


@pytest.mark.parametrize(
    ("fire", "why"),
    [
        (fired(wall_s=None), "the client killed it"),
        (fired(not_started="/nowhere: No such file", code=127), "/nowhere"),
        (fired('{"decision": "block"} and more'), "not one JSON object"),
    ],
)
def test_a_hook_that_gave_no_answer_is_trouble(fire: Fire, why: str) -> None:
    assert why in judged(session(fire)).trouble[0]


def test_a_hook_that_never_started_is_trouble_only_where_a_call_was_for_it() -> None:
    assert "never started" in judged(session()).trouble[0]
    assert judged(session(), matcher="Write").trouble == ()


def test_a_hook_after_a_tool_is_expected_after_harmless_calls_alone() -> None:
    assert "never started" in judged(session(), event="PostToolUse").trouble[0]
    assert judged(session(name="canaries, plain"), event="PostToolUse").trouble == ()


RARER = "rarer events"


def test_a_hook_for_an_event_of_its_own_session_is_expected_there_alone() -> None:
    rarer = judged(session(name=RARER), event="SubagentStart", matcher="*")
    assert "never started" in rarer.trouble[0]
    ordinary = judged(session(), event="SubagentStart", matcher="*")
    assert (ordinary.trouble, ordinary.hooks[0].not_asked) == ((), "nothing that it is for was played")


def test_it_is_not_expected_where_a_hook_refused_the_call_that_leads_to_it_or_its_matcher_is_another() -> None:
    refused = session(fired(denied("no")), name=RARER, text="no")
    assert not judged(refused, event="SubagentStart", matcher="*").hooks[0].expected
    assert not judged(session(name=RARER), event="PostToolUseFailure", matcher="Write").hooks[0].expected
    assert judged(session(name=RARER), event="PostToolUseFailure", matcher="Bash").hooks[0].expected


def test_of_an_event_that_no_session_comes_to_alone_that_is_said() -> None:
    report = judged(session(), event="Notification", matcher="*")
    assert (report.trouble, report.hooks[0].not_asked) == ((), "a client comes to it only where somebody is there")


def test_a_session_in_which_the_model_was_never_asked_is_trouble() -> None:
    assert "never asked the model: no model" in judged(session(fired(), turns=0)).trouble[0]


@pytest.mark.parametrize(
    ("answer", "told", "well"),
    [
        (denied("[g] no"), "[g] no", True),
        (denied("[g] no"), "it ran", False),
        (denied("[other] no"), "[other] no", False),
        ("", "it ran", False),
    ],
)
def test_a_canary_is_denied_where_its_own_gate_said_so_and_the_model_read_it(
    answer: dict[str, Any] | str, told: str, well: bool
) -> None:
    canary = Canary("g", Call("Bash", COMMAND))
    report = judged(session(fired(answer), name="canaries, plain", text=told), canary=canary)
    assert report.gates[0].denied is well


def test_a_canary_that_another_hook_refused_as_well_is_denied() -> None:
    canary = Canary("g", Call("Bash", COMMAND))
    other = fired("", code=2, stderr="no force pushes")
    both = session(fired(denied("[g] ask", "ask")), other, name="canaries, plain", text="error: no force pushes")
    report = judged(both, canary=canary)
    assert (report.gates[0].denied, report.trouble) == (True, ())
    assert "another hook's no: error: no force pushes" in report.gates[0].said


def test_where_the_client_asks_before_everything_a_gate_that_asks_counts() -> None:
    canary = Canary("g", Call("Bash", COMMAND), "asking")
    report = judged(
        session(fired(denied("[g] ask", "ask")), name="canaries, asking", text="refused"), canary=canary
    )
    assert (report.gates[0].denied, report.trouble) == (True, ())


def test_what_the_user_would_have_seen_is_a_message_or_the_first_line_of_an_error() -> None:
    (told,) = judged(session(fired({"systemMessage": "look here"}))).hooks[0].fires
    (failed,) = judged(session(fired(code=1, stderr="Traceback\nmore"))).hooks[0].fires
    assert (told.user_sees, failed.user_sees) == ("look here", "Traceback")
