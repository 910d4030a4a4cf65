"""Claude Code on a terminal shows our line, as it is wired by the README's one line of settings."""

import json

import pytest
from clientrig import Rig
from onscreen import play_on_screen, squeezed

from overdeck.process import argv_of

pytestmark = pytest.mark.timeout(300)


def test_the_client_shows_the_line(claude: Rig) -> None:
    command = argv_of("overdeck")
    if len(command) > 1:
        pytest.skip("the command is not installed")
    claude.settings.parent.mkdir(parents=True, exist_ok=True)
    claude.settings.write_text(
        json.dumps({"statusLine": {"type": "command", "command": f"{command[0]} statusline"}})
    )
    claude.home.state.mkdir(parents=True)
    call = {"v": 1, "session": "another", "us": 900, "ran": {"deny": {"us": 5, "bytes": 0, "end": "error"}}}
    (claude.home.state / "hook-calls.jsonl").write_text(json.dumps(call) + "\n")
    shown, _ = play_on_screen(claude, claude.client.shell("touch x"), until="✗ deny", ends=False, deadline_s=40)
    assert squeezed("Opus 4.8 (1M context) · ✗ deny") in shown
