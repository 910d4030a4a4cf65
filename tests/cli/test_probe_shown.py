"""What people read of a gate in ``overdeck probe``."""

import pytest

from overdeck.cli.output import Output
from overdeck.cli.probe import show
from overdeck.probe.canaries import Canary
from overdeck.probe.facts import Played, Told
from overdeck.probe.hooks import Choice
from overdeck.probe.hooks import Played as Hook
from overdeck.probe.judging import judge
from overdeck.probe.mock.script import Call

CALL = Call("Bash", {"command": "ls"})


def test_what_was_not_asked_says_why_and_a_file_says_in_which_scope_it_was_played(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hook = Hook("Notification", "*", "mine", ("mine",), {}, "/p/.claude/settings.local.json", scope="local")
    session = Played("harmless calls", 0, "", "", 1.0, 0.5, 2, (), (), (), ())
    report = judge("claude", Choice((hook,)), [], [session], version="1", program="claude", isolation="none")
    show(report, Output("probe", as_json=False))
    said = capsys.readouterr().out.splitlines()
    assert "Notification: not asked: a client comes to it only where somebody is there" in said
    assert "/p/.claude/settings.local.json: played as a project's local settings" in said


def rows(canary: Canary, capsys: pytest.CaptureFixture[str]) -> str:
    told = (Told("1", CALL.tool, CALL.input, "it ran"),)
    session = Played("canaries, plain", 0, "", "", 1.0, 0.5, 2, told, (), (), ())
    report = judge("codex", Choice(()), [canary], [session], version="1", program="codex", isolation="none")
    show(report, Output("probe", as_json=False))
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("canary", "verdict", "why"),
    [
        (Canary("g", None, why="this client has no such tool"), "not played", "this client has no such tool"),
        (Canary("g", CALL, why="behind false"), "proves nothing", "behind false"),
        (Canary("g", CALL), "NOT denied", "it ran"),
    ],
)
def test_a_gate_that_was_not_seen_to_deny_has_a_verdict_and_a_reason(
    canary: Canary, verdict: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = (line for line in rows(canary, capsys).splitlines() if line.startswith("g "))
    assert verdict in row
    assert why in row
