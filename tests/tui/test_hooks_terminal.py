"""The hooks page on a real terminal, with real calls of the installed front while it is open."""

from datetime import UTC, datetime
from pathlib import Path

import hookhomes
import pytest
from homes import Home
from pages import home_environ
from terminals import Terminal, needs_tmux

from overdeck.process import argv_of

pytestmark = [needs_tmux, pytest.mark.timeout(120), pytest.mark.slow]


def test_a_silent_module_is_found_tested_and_kept_and_a_real_fire_shows_live(tmp_path: Path) -> None:
    hookhomes.full(tmp_path, datetime.now(UTC))
    assert Home(tmp_path).run("overdeck", "install").code == 0
    with Terminal(tmp_path, [*argv_of("overdeck"), "tui"], home_environ(tmp_path), size=(120, 40)) as screen:
        screen.until("never fired silent")
        screen.keys("z")
        screen.until(lambda text: "silent" in text and "guard.py  " not in text)
        screen.keys("Down")
        screen.until("silent: removal-candidate: 0 of ")
        screen.keys("t")
        screen.until("the canary of silent passes: 2 cases")
        screen.keys("k")
        screen.until("Keep silent")
        screen.type("asked for by the audit")
        screen.keys("Enter")
        screen.until("silent is exempt from now on")
        screen.keys("z")
        screen.keys("z")
        screen.until(lambda text: "exempt" in text and "later" in text)
        screen.keys("l")
        screen.until("fires as they are logged")
        payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "deploy"}}
        answer = Home(tmp_path).front("PreToolUse", {"session_id": "s", "cwd": str(tmp_path), **payload})
        assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
        screen.until(lambda text: "deny    silent  PreToolUse" in text)
        screen.keys("q")
        screen.until(lambda _text: screen.ended)
